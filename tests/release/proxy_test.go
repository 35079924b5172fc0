// Package release tests that the modules can be installed as a release. The release is the working tree: a module proxy
// in a directory offers it.
package release

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root    = "../.."
	module  = "github.com/habeas-data/habeas"
	version = "v0.1.0"
)

// publish writes a module of the repository into a proxy, as the go command expects it.
func publish(t *testing.T, proxy, directory string) {
	t.Helper()
	path := strings.TrimSuffix(module+"/"+directory, "/")
	target := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(target, 0o700); err != nil {
		t.Fatal(err)
	}
	mod := read(t, filepath.Join(root, directory, "go.mod"))
	for name, content := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".mod": mod,
		version + ".info": []byte(`{"Version": "` + version + `", "Time": "2026-01-01T00:00:00Z"}`),
	} {
		if err := os.WriteFile(filepath.Join(target, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(target, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	out := zip.NewWriter(archive)
	for _, name := range filesOf(t, directory) {
		entry, err := out.Create(path + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write(read(t, filepath.Join(root, directory, name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// filesOf returns the files of a module that git has or would add, without those of the modules below it.
func filesOf(t *testing.T, directory string) (files []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard")
	command.Dir = filepath.Join(root, directory)
	output, err := command.Output()
	if err != nil {
		t.Fatal("git ls-files: ", err)
	}
	all := strings.Split(strings.TrimSpace(string(output)), "\n")
	var nested []string
	for _, name := range all {
		if folder, isModule := strings.CutSuffix(name, "/go.mod"); isModule {
			nested = append(nested, folder+"/")
		}
	}
	for _, name := range all {
		_, err := os.Stat(filepath.Join(root, directory, name)) // git also lists files that were deleted
		if err == nil && !startsWithAny(name, nested) {
			files = append(files, name)
		}
	}
	return files
}

func startsWithAny(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
