package objectstore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/habeas-data/habeas/adapters/objectstore"
	"github.com/habeas-data/habeas/domain"
)

// keysOfNoObject has texts that must not be accepted as keys. A user could write them into a column to access the
// objects of other users.
var keysOfNoObject = []string{
	"u/", "u/4/", "u//", "/", "//", "/u", "/u/", "", ".", "..", "./", "../", "u/.", "u/..", "u/./", "u/../", "u/4/..",
	"../bucket/u/", `u\`, "u/\x00", "u/\n", "u/\xff", strings.Repeat("k", 1025), strings.Repeat("k", 1024) + "/",
}

// bucketsOf returns a bucket in memory and a bucket in a directory. Both contain the given objects.
func bucketsOf(t *testing.T, objects ...string) map[string]*blob.Bucket {
	t.Helper()
	directory, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true})
	must(t, err)
	buckets := map[string]*blob.Bucket{"memory": memblob.OpenBucket(nil), "directory": directory}
	for _, bucket := range buckets {
		t.Cleanup(func() { _ = bucket.Close() })
		for _, key := range objects {
			must(t, bucket.WriteAll(t.Context(), key, []byte("x"), nil))
		}
	}
	return buckets
}

func TestAKeyIsNeverAPrefix(t *testing.T) {
	objects := []string{"u/4/a", "u/4/b/c", "u/42/a", "v"}
	for name, bucket := range bucketsOf(t, objects...) {
		resolver, err := objectstore.New(bucket, objectstore.Options{})
		must(t, err)
		for _, key := range keysOfNoObject {
			for _, batch := range [][]string{{key}, {"v", key}} {
				var refused *domain.ResolverError
				if records, err := resolver.ExportKeys(t.Context(), batch); !errors.As(err, &refused) || records != nil {
					t.Errorf("%s: export of %q: %d records, %v", name, batch, len(records), err)
				}
				if absent, err := resolver.EraseKeys(t.Context(), batch, entry); !errors.As(err, &refused) || absent != 0 {
					t.Errorf("%s: erasure of %q: %d absent, %v", name, batch, absent, err)
				}
			}
		}
		if left := keys(t, bucket); !slices.Equal(left, objects) {
			t.Errorf("%s: left are %v", name, left)
		}
	}
}

// A key or a ref without a final slash selects only the object with exactly this name. It must not select an object
// with a longer name.
func TestANameDoesNotReachLongerNames(t *testing.T) {
	objects := []string{"u/1.bak", "u/10/a", "u/2/a", "u/3", "u/3.bak", "u/30/a"}
	for name, bucket := range bucketsOf(t, objects...) {
		resolver, err := objectstore.New(bucket, objectstore.Options{})
		must(t, err)
		for _, key := range []string{"u", "u/1", "u/2", "u/1.ba"} {
			records, err := resolver.ExportKeys(t.Context(), []string{key})
			ofRef, errOfRef := resolver.ExportSubject(t.Context(), ref(key))
			if err != nil || errOfRef != nil || len(records)+len(ofRef) > 0 {
				t.Errorf("%s: export of %s: %v, %v, %v, %v", name, key, records, err, ofRef, errOfRef)
			}
			absent, err := resolver.EraseKeys(t.Context(), []string{key}, entry)
			already, errOfRef := resolver.EraseSubject(t.Context(), ref(key), entry)
			if err != nil || errOfRef != nil || absent != 1 || !already {
				t.Errorf("%s: erasure of %s: %d, %v, %v, %v", name, key, absent, err, already, errOfRef)
			}
		}
		_, err = resolver.EraseKeys(t.Context(), []string{"u/3"}, entry)
		must(t, err)
		if left := keys(t, bucket); !slices.Equal(left, []string{"u/1.bak", "u/10/a", "u/2/a", "u/3.bak", "u/30/a"}) {
			t.Errorf("%s: left are %v", name, left)
		}
	}
}
