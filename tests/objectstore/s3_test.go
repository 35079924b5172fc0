package objectstore_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob"

	"github.com/habeas-data/habeas/adapters/objectstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports/porttest"
)

const vendorText = "the-words-of-the-vendor"

// entry is the call of the tests.
var entry = domain.ErasureCall{EntryID: "entry", Attempt: 1}

func TestConformance(t *testing.T) {
	porttest.TestResolver(t, porttest.ResolverHarness{Open: openBucket})
}

func openBucket(t testing.TB) porttest.ResolverSystem {
	t.Helper()
	w := newWorld(t, true)
	w.write(t, "uploads/populated/letter.txt", "excluded-version", "a letter")
	w.write(t, "uploads/populated/album/film.mp4", strings.Repeat("film", 500))
	w.write(t, "uploads/populated-too/letter.txt", "another's letter")
	answer := func(status int) porttest.ResolverFault {
		return porttest.ResolverFault{Name: fmt.Sprint(status), Inject: func() {
			fault := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.WriteHeader(status)
				_, _ = fmt.Fprintf(rw, "<Error><Code>Fault</Code><Message>%s</Message></Error>", vendorText)
			})
			w.fault.Store(&fault)
		}}
	}
	return porttest.ResolverSystem{
		Resolver:  w.resolver(t, objectstore.Options{MaxContentBytes: 1000}),
		Populated: ref("uploads/populated/"),
		Bystander: ref("uploads/populated-too/"),
		Absent:    ref("uploads/absent/"),
		Keys: porttest.ResolverKeys{
			Populated: []string{"uploads/populated/letter.txt", "uploads/populated/album/film.mp4"},
			Bystander: "uploads/populated-too/letter.txt", Absent: "uploads/absent/letter.txt",
		},
		Excluded: []string{"excluded-caption", "excluded-version"},
		Secrets:  []string{w.name, "letter", "127.0.0.1", accessKey, secretKey, vendorText},
		Transient: []porttest.ResolverFault{
			answer(404), answer(500), answer(503),
			{Name: "connection cut", Inject: func() {
				cut := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
				w.fault.Store(&cut)
			}},
		},
		Permanent: []porttest.ResolverFault{answer(401), answer(403)},
		Heal:      func() { w.fault.Store(nil) },
		Hang: func() {
			hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			w.fault.Store(&hang)
		},
	}
}

func TestEveryVersionIsErased(t *testing.T) {
	w := newWorld(t, true)
	w.write(t, "u/4/a", "one", "two", "three")
	w.write(t, "u/4/deleted", "one", "two")
	must(t, w.bucket.Delete(t.Context(), "u/4/deleted"))
	w.write(t, "u/4.txt", "one", "two")
	w.write(t, "u/4.txt.bak", "one", "two")
	w.write(t, "u/42/a", "one", "two")
	want := map[string]int{"u/4/a": 3, "u/4/deleted": 3, "u/4.txt": 2, "u/4.txt.bak": 2, "u/42/a": 2}
	if got := w.versions(t); !maps.Equal(got, want) {
		t.Fatalf("the server has %v", got)
	}

	resolver := w.resolver(t, objectstore.Options{})
	for _, erased := range []struct{ ref, key, deleted string }{
		{"u/4.txt", "u/4.txt", ""},
		{"u/4/", "u/4/a", "u/4/deleted"},
	} {
		absent, err := resolver.EraseSubject(t.Context(), ref(erased.ref), entry)
		must(t, err)
		delete(want, erased.key)
		delete(want, erased.deleted)
		if got := w.versions(t); absent || !maps.Equal(got, want) {
			t.Errorf("after %s: %v, alreadyAbsent %v", erased.ref, got, absent)
		}
		if absent, err = resolver.EraseSubject(t.Context(), ref(erased.ref), entry); err != nil || !absent {
			t.Errorf("%s again: alreadyAbsent %v, %v", erased.ref, absent, err)
		}
	}
}

// In a versioned bucket, Delete keeps the older versions of the object and adds a delete marker. EraseKeys must remove
// both.
func TestAnObjectThatWasDeletedIsErasedWithItsVersions(t *testing.T) {
	w := newWorld(t, true)
	w.write(t, "u/1", "one")
	must(t, w.bucket.Delete(t.Context(), "u/1"))
	absent, err := w.resolver(t, objectstore.Options{}).EraseKeys(t.Context(), []string{"u/1"}, entry)
	must(t, err)
	if left := w.versions(t); absent != 0 || len(left) > 0 {
		t.Errorf("%d absent, left are %v", absent, left)
	}
}

func TestABucketWithoutVersions(t *testing.T) {
	w := newWorld(t, false)
	w.write(t, "u/1/a", "one", "two")
	w.write(t, "u/2/a", "one")
	_, err := w.resolver(t, objectstore.Options{}).EraseSubject(t.Context(), ref("u/1/"), entry)
	must(t, err)
	if left := w.versions(t); !maps.Equal(left, map[string]int{"u/2/a": 1}) {
		t.Errorf("left are %v", left)
	}
}

func TestAStoreThatDoesNotKnowVersions(t *testing.T) {
	w := newWorld(t, false)
	w.write(t, "u/1/a", "one")
	w.write(t, "u/2/a", "one")
	resolver, err := objectstore.New(w.withoutVersions(t), objectstore.Options{})
	must(t, err)
	_, err = resolver.EraseSubject(t.Context(), ref("u/1/"), entry)
	must(t, err)
	if gone, err := w.bucket.Exists(t.Context(), "u/1/a"); gone || err != nil {
		t.Errorf("it is there: %v, %v", gone, err)
	}
	if kept, err := w.bucket.Exists(t.Context(), "u/2/a"); !kept || err != nil {
		t.Errorf("another one is gone: %v", err)
	}
}

func TestMoreVersionsThanOnePage(t *testing.T) {
	w := newWorld(t, true)
	for i := range 1010 { // a page has 1000
		w.write(t, fmt.Sprintf("u/1/%d", i), "one")
	}
	w.write(t, "u/2/a", "one")
	_, err := w.resolver(t, objectstore.Options{}).EraseSubject(t.Context(), ref("u/1/"), entry)
	must(t, err)
	if left := w.versions(t); !maps.Equal(left, map[string]int{"u/2/a": 1}) {
		t.Errorf("left are %v", left)
	}
}

func TestKeysOfAllCharacters(t *testing.T) {
	w := newWorld(t, true)
	for _, key := range []string{"über/日本 😀", "a+b/c%2Fd", `q"'<&>;=?#`, "~(x)!*", "trailing. /x", "a..b/..c"} {
		w.write(t, key, "one", "two")
		w.write(t, key+"x", "one")
		absent, err := w.resolver(t, objectstore.Options{}).EraseSubject(t.Context(), ref(key), entry)
		if err != nil || absent {
			t.Errorf("%s: alreadyAbsent %v, %v", key, absent, err)
		}
		if left := w.versions(t); left[key] > 0 || left[key+"x"] != 1 {
			t.Errorf("%s: left are %v", key, left)
		}
	}
}

// An attacker may write "u/" into a column with the keys of objects. The resolver must not treat this value as a
// prefix, because it would then export or erase the objects of other people.
func TestAKeyIsNeverAPrefix(t *testing.T) {
	w := newWorld(t, true)
	want := map[string]int{"u/1/a": 2, "u/10/a": 1, "u/1.bak": 1, "v": 1}
	for key, versions := range want {
		w.write(t, key, slices.Repeat([]string{"one"}, versions)...)
	}
	resolver := w.resolver(t, objectstore.Options{})
	for _, key := range []string{"u/", "u/1/", "/", "//", "/u", "", ".", "..", "u/.", "u/../", "u//"} {
		var refused *domain.ResolverError
		if _, err := resolver.ExportKeys(t.Context(), []string{"v", key}); !errors.As(err, &refused) {
			t.Errorf("export of %q: %v", key, err)
		}
		if _, err := resolver.EraseKeys(t.Context(), []string{"v", key}, entry); !errors.As(err, &refused) {
			t.Errorf("erasure of %q: %v", key, err)
		}
	}
	longer := []string{"u", "u/1"}
	records, err := resolver.ExportKeys(t.Context(), longer)
	must(t, err)
	absent, err := resolver.EraseKeys(t.Context(), longer, entry)
	must(t, err)
	if left := w.versions(t); len(records) > 0 || absent != len(longer) || !maps.Equal(left, want) {
		t.Errorf("%d records, %d absent, left are %v", len(records), absent, left)
	}
	_, err = resolver.EraseSubject(t.Context(), ref("u/1/"), entry)
	must(t, err)
	delete(want, "u/1/a")
	if left := w.versions(t); !maps.Equal(left, want) {
		t.Errorf("after the prefix of the subject: left are %v", left)
	}
}

func TestAPrefixedBucketIsNotLeft(t *testing.T) {
	w := newWorld(t, true)
	w.write(t, "media/u/1", "one", "two")
	w.write(t, "u/1", "one", "two")
	inside := blob.PrefixedBucket(w.bucket, "media/")
	resolver, err := objectstore.New(inside, objectstore.Options{})
	must(t, err)
	records, err := resolver.ExportSubject(t.Context(), ref("u/1"))
	must(t, err)
	if len(records) != 3 || records[0].Row != "u/1" {
		t.Errorf("%+v", records)
	}
	_, err = resolver.EraseSubject(t.Context(), ref("u/1"), entry)
	must(t, err)
	if left := w.versions(t); !maps.Equal(left, map[string]int{"u/1": 2}) {
		t.Errorf("left are %v", left)
	}
}

func TestAVersionThatIsHeldBackIsAResolverError(t *testing.T) {
	w := newWorld(t, true)
	w.write(t, "u/1/contract", "one")
	w.hold(t, "u/1/contract")
	_, err := w.resolver(t, objectstore.Options{}).EraseSubject(t.Context(), ref("u/1/"), entry)
	var refused *domain.ResolverError
	if !errors.As(err, &refused) || strings.Contains(err.Error(), "contract") {
		t.Errorf("the error is %v", err)
	}
	if left := w.versions(t); left["u/1/contract"] != 1 {
		t.Errorf("left are %v", left)
	}
}
