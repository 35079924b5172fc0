// Package sources helps tests that start the go command, for example to build a program of this module.
package sources

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Read reads the files of the module that a build can depend on. The go command repeats a cached test if a file that
// the test has read was changed, but it knows nothing about the files that a command of the test reads. The root is the
// directory of the module, relative to the test.
func Read(tb testing.TB, root string) {
	tb.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (strings.HasPrefix(base, ".") || base == "bin"):
			return filepath.SkipDir
		case entry.IsDir() || strings.HasSuffix(base, "_test.go"):
			return nil
		case filepath.Ext(base) == ".go" || filepath.Ext(base) == ".sql" || base == "go.mod" || base == "go.sum":
			_, err := os.ReadFile(name)
			return err
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}
