//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/journal"
	"github.com/habeas-data/habeas/domain"
)

func TestAFileThatOthersCanReadAndALinkAreRefused(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"all can read":      func(path string) error { return os.WriteFile(path, nil, 0o604) },
		"a group can read":  func(path string) error { return os.WriteFile(path, nil, 0o640) },
		"a link":            func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "else"), path) },
		"a link to nothing": func(path string) error { return os.Symlink("/nowhere", path) },
		"a directory":       func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "erased.jsonl")
			must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "else"), []byte("theirs"), 0o600))
			must(t, make(path))
			err := newFile(t, path).Append(t.Context(), line(t, "1"))
			if err == nil || name != "a directory" && !errors.Is(err, domain.ErrConfiguration) {
				t.Errorf("got %v", err)
			}
			if strings.Contains(err.Error(), path) {
				t.Errorf("the error has the path: %v", err)
			}
			text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "else"))
			if must(t, err); string(text) != "theirs" {
				t.Errorf("the target of the link is %s", text)
			}
			if _, err := newFile(t, path).Open(t.Context()); err == nil {
				t.Error("it can be opened for reading")
			}
		})
	}
}

func TestAGroupHasAccessIfItIsAllowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "erased.jsonl")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, os.Chmod(path, 0o660))
	file, err := journal.NewFile(path, journal.Options{GroupAccess: true})
	must(t, err)
	must(t, file.Append(t.Context(), line(t, "1")))
	must(t, os.Chmod(path, 0o604))
	if err := file.Append(t.Context(), line(t, "2")); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("others have access: %v", err)
	}
}
