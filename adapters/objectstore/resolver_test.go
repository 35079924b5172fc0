package objectstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/habeas-data/habeas/adapters/objectstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports/porttest"
)

func TestConformance(t *testing.T) {
	porttest.TestResolver(t, porttest.ResolverHarness{Open: openDirectory})
}

// openDirectory returns a resolver for a bucket in a directory. The returned system can simulate a fault: it renames
// the directory, as if the volume of the directory were not mounted.
func openDirectory(t testing.TB) porttest.ResolverSystem {
	t.Helper()
	root := filepath.Join(t.TempDir(), "media")
	bucket, err := fileblob.OpenBucket(root, &fileblob.Options{CreateDir: true, NoTempDir: true})
	must(t, err)
	t.Cleanup(func() { _ = bucket.Close() })
	described := &blob.WriterOptions{Metadata: map[string]string{"caption": "excluded-caption"}}
	must(t, bucket.WriteAll(t.Context(), "uploads/populated/letter.txt", []byte("a letter"), described))
	must(t, bucket.WriteAll(t.Context(), "uploads/populated/album/film.mp4", make([]byte, 2000), described))
	must(t, bucket.WriteAll(t.Context(), "uploads/populated-too/letter.txt", []byte("another's letter"), nil))
	resolver, err := objectstore.New(bucket, objectstore.Options{MaxContentBytes: 1000})
	must(t, err)
	away := root + "-secret-mount"
	return porttest.ResolverSystem{
		Resolver:  resolver,
		Populated: ref("uploads/populated/"),
		Bystander: ref("uploads/populated-too/"),
		Absent:    ref("uploads/absent/"),
		Keys: porttest.ResolverKeys{
			Populated: []string{"uploads/populated/letter.txt", "uploads/populated/album/film.mp4"},
			Bystander: "uploads/populated-too/letter.txt", Absent: "uploads/absent/letter.txt",
		},
		Excluded: []string{"excluded-caption"},
		Secrets:  []string{root, "letter"},
		Transient: []porttest.ResolverFault{{Name: "the directory is gone", Inject: func() {
			must(t, os.Rename(root, away))
		}}},
		Heal: func() {
			if _, err := os.Stat(away); err == nil {
				must(t, os.Rename(away, root))
			}
		},
	}
}

// entry is the call of the tests.
var entry = domain.ErasureCall{EntryID: "entry", Attempt: 1}

func ref(value string) domain.SubjectRef {
	return domain.SubjectRef{Kind: objectstore.Name, Value: value}
}

// open returns a resolver for a bucket in memory, which contains an object for each element of sizes. An element maps a
// key to the size of its object.
func open(t *testing.T, options objectstore.Options, sizes map[string]int) (*objectstore.Resolver, *blob.Bucket) {
	t.Helper()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	for key, size := range sizes {
		must(t, bucket.WriteAll(t.Context(), key, bytes.Repeat([]byte("x"), size), nil))
	}
	resolver, err := objectstore.New(bucket, options)
	must(t, err)
	return resolver, bucket
}

func keys(t *testing.T, bucket *blob.Bucket) (all []string) {
	t.Helper()
	for objects := bucket.List(nil); ; {
		object, err := objects.Next(t.Context())
		if err != nil {
			return all
		}
		all = append(all, object.Key)
	}
}

func TestARefSelectsOneObjectOrAllBelowAPrefix(t *testing.T) {
	objects := map[string]int{"u/4": 1, "u/4.bak": 1, "u/4/a": 1, "u/4/b/c": 1, "u/42": 1, "u/42/a": 1}
	for value, left := range map[string][]string{
		"u/4":     {"u/4.bak", "u/4/a", "u/4/b/c", "u/42", "u/42/a"},
		"u/4/":    {"u/4", "u/4.bak", "u/42", "u/42/a"},
		"u/4/b/":  {"u/4", "u/4.bak", "u/4/a", "u/42", "u/42/a"},
		"u/42":    {"u/4", "u/4.bak", "u/4/a", "u/4/b/c", "u/42/a"},
		"u/5":     {"u/4", "u/4.bak", "u/4/a", "u/4/b/c", "u/42", "u/42/a"},
		"u/4/b/c": {"u/4", "u/4.bak", "u/4/a", "u/42", "u/42/a"},
	} {
		resolver, bucket := open(t, objectstore.Options{}, objects)
		exported, err := resolver.ExportSubject(t.Context(), ref(value))
		must(t, err)
		if want := 3 * (len(objects) - len(left)); len(exported) != want {
			t.Errorf("%s: %d records, want %d", value, len(exported), want)
		}
		absent, err := resolver.EraseSubject(t.Context(), ref(value), entry)
		must(t, err)
		if absent != (len(left) == len(objects)) {
			t.Errorf("%s: alreadyAbsent is %v", value, absent)
		}
		if got := keys(t, bucket); !slices.Equal(got, left) {
			t.Errorf("%s: left are %v, want %v", value, got, left)
		}
	}
}

func TestARefToAnotherPlaceIsRefused(t *testing.T) {
	resolver, bucket := open(t, objectstore.Options{}, map[string]int{"a": 1, "b/c": 1})
	for _, value := range []string{
		"", "/", "//", "/a", ".", "..", "../a", "b/../a", "b/..", "b//c", "b/./c", "./a", "b/../", "./", `b\c`, `..\a`,
		"a\x00", "a\n", "b/\x7f", "a\xff", strings.Repeat("k", 1025),
	} {
		_, err := resolver.ExportSubject(t.Context(), ref(value))
		var refused *domain.ResolverError
		if !errors.As(err, &refused) {
			t.Errorf("export of %q: %v", value, err)
		}
		if _, err = resolver.EraseSubject(t.Context(), ref(value), entry); !errors.As(err, &refused) {
			t.Errorf("erasure of %q: %v", value, err)
		}
	}
	if left := keys(t, bucket); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
}

func TestContentsAreExportedWithinTheBounds(t *testing.T) {
	for _, test := range []struct {
		options objectstore.Options
		want    string
	}{
		{objectstore.Options{}, "a=10 b=20 c=30"},
		{objectstore.Options{MaxContentBytes: 20}, "a=10 b=20 c:The content is larger than the limit of an export."},
		{
			objectstore.Options{MaxTotal: 40},
			"a=10 b=20 c:The total size of the contents is larger than the limit of an export.",
		},
		{
			objectstore.Options{MaxContentBytes: -1}, "a:The content is larger than the limit of an export. " +
				"b:The content is larger than the limit of an export. c:The content is larger than the limit of an export.",
		},
	} {
		resolver, _ := open(t, test.options, map[string]int{"u/a": 10, "u/b": 20, "u/c": 30})
		records, err := resolver.ExportSubject(t.Context(), ref("u/"))
		must(t, err)
		var got []string
		for _, record := range records {
			name := strings.TrimPrefix(record.Row, "u/")
			switch value := record.Value.(type) {
			case []byte:
				got = append(got, fmt.Sprintf("%s=%d", name, len(value)))
			case string:
				if record.Field == "object.note" {
					got = append(got, name+":"+value)
				}
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%+v: %v", test.options, got)
		}
	}
}

func TestAnExportOfTooManyObjectsFails(t *testing.T) {
	resolver, _ := open(t, objectstore.Options{MaxObjects: 2}, map[string]int{"u/a": 1, "u/b": 1, "u/c": 1, "v/a": 1})
	if records, err := resolver.ExportSubject(t.Context(), ref("u/")); err == nil {
		t.Errorf("%d records", len(records))
	}
	if _, err := resolver.ExportKeys(t.Context(), []string{"u/a", "v/a"}); err != nil {
		t.Error(err)
	}
}

func TestBatchesOfKeys(t *testing.T) {
	resolver, bucket := open(t, objectstore.Options{}, map[string]int{"a": 1, "b": 1, "c/1": 1, "d": 1})
	records, err := resolver.ExportKeys(t.Context(), []string{"a", "c/1", "a", "z"})
	must(t, err)
	if len(records) != 6 { // of two objects
		t.Errorf("%d records", len(records))
	}
	absent, err := resolver.EraseKeys(t.Context(), []string{"a", "c/1", "z"}, entry)
	must(t, err)
	if left := keys(t, bucket); absent != 1 || !slices.Equal(left, []string{"b", "d"}) {
		t.Errorf("%d were absent, left are %v", absent, left)
	}
	if _, err := resolver.EraseKeys(t.Context(), []string{"b", "../d"}, entry); err == nil {
		t.Error("a key that is not valid was accepted")
	}
	tooMany := slices.Repeat([]string{"b"}, objectstore.MaxKeys+1)
	if _, err := resolver.EraseKeys(t.Context(), tooMany, entry); err == nil {
		t.Error("more than MaxKeys keys were accepted")
	}
	if left := keys(t, bucket); len(left) != 2 {
		t.Errorf("a refused batch left %v", left)
	}
}

func TestAnErasureDeletesAllPages(t *testing.T) {
	objects := map[string]int{"v": 1}
	for i := range 2500 {
		objects[fmt.Sprintf("u/%04d", i)] = 0
	}
	resolver, bucket := open(t, objectstore.Options{}, objects)
	_, err := resolver.EraseSubject(t.Context(), ref("u/"), entry)
	must(t, err)
	if left := keys(t, bucket); len(left) != 1 {
		t.Errorf("%d objects are left", len(left))
	}
}

func TestOptionsAreChecked(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	for name, options := range map[string]objectstore.Options{
		"category": {Category: "pets"}, "name": {Name: "a,b"}, "total": {MaxTotal: -1}, "objects": {MaxObjects: -1},
	} {
		if _, err := objectstore.New(bucket, options); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := objectstore.New(nil, objectstore.Options{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("no bucket: %v", err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	resolver, bucket := open(t, objectstore.Options{}, map[string]int{"u/a": 1})
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := resolver.EraseSubject(ctx, ref("u/"), entry); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if left := keys(t, bucket); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

var must = fixture.Must
