package system_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/habeas-data/habeas/internal/system"
)

func TestATemporaryFileHasNoName(t *testing.T) {
	directory := t.TempDir()
	file, err := system.NewTempFile(directory)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
		t.Errorf("%d files, %v", len(left), err)
	}
	info, err := file.Stat()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if _, err := system.NewTempFile(filepath.Join(directory, "missing")); err == nil {
		t.Error("a file was created in a directory that does not exist")
	}
}
