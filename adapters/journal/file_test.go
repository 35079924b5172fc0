package journal_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/journal"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

func newFile(t testing.TB, path string) *journal.File {
	t.Helper()
	file, err := journal.NewFile(path, journal.Options{})
	must(t, err)
	return file
}

func TestConformance(t *testing.T) {
	var path string
	porttest.TestJournal(t, porttest.JournalHarness{
		New: func(t testing.TB) func() ports.Journal {
			t.Helper()
			path = filepath.Join(t.TempDir(), "erasures.jsonl")
			return func() ports.Journal { return newFile(t, path) }
		},
		CutOff: func(t testing.TB) {
			t.Helper()
			info, err := os.Stat(path)
			must(t, err)
			must(t, os.Truncate(path, info.Size()-7))
		},
	})
}

// Several File values append to one file. Each opens the file by itself, as another process does.
func TestConcurrentFilesReportNoTruncatedLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "erasures.jsonl")
	const writers, appends = 4, 50
	text := bytes.Repeat(line(t, "1"), 100)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			file := newFile(t, path)
			for range appends {
				if err := file.Append(t.Context(), text); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	got, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(got, bytes.Repeat(text, writers*appends)) {
		t.Errorf("the file has %d bytes, want %d", len(got), writers*appends*len(text))
	}
}

func TestAFileIsForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "erasures.jsonl")
	must(t, newFile(t, path).Append(t.Context(), line(t, "1")))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
}

func TestAppendCreatesANewFileAfterARename(t *testing.T) {
	path := filepath.Join(t.TempDir(), "erasures.jsonl")
	file := newFile(t, path)
	must(t, file.Append(t.Context(), line(t, "1")))
	must(t, os.Rename(path, path+".1"))
	must(t, file.Append(t.Context(), line(t, "2")))
	for path, want := range map[string]string{path + ".1": string(line(t, "1")), path: string(line(t, "2"))} {
		text, err := os.ReadFile(path)
		if err != nil || string(text) != want {
			t.Errorf("%s has %d bytes: %v", filepath.Base(path), len(text), err)
		}
	}
}

// The message of the error names the failed operation, but not the path, because a path may be confidential.
func TestAFileThatCannotBeWrittenIsUnavailable(t *testing.T) {
	directory := t.TempDir()
	for name, path := range map[string]string{
		"no directory": filepath.Join(directory, "none", "erasures.jsonl"),
		"a directory":  directory,
	} {
		err := newFile(t, path).Append(t.Context(), line(t, "1"))
		if !errors.Is(err, domain.ErrUnavailable) || strings.Contains(err.Error(), directory) ||
			!strings.Contains(err.Error(), "directory") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := journal.NewFile("", journal.Options{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("no path: got %v", err)
	}
}

func TestTheDefaultNameHasTheHostAndThePath(t *testing.T) {
	host, err := os.Hostname()
	must(t, err)
	t.Chdir(t.TempDir())
	here := newFile(t, "a")
	name := here.Name()
	if !strings.Contains(name, host) || !strings.HasSuffix(name, "/a") || !strings.Contains(name, ":/") {
		t.Errorf("the name is %s", name)
	}
	shared, err := journal.NewFile("a", journal.Options{Name: "shared"})
	if err != nil || shared.Name() != "shared" {
		t.Errorf("got %v, %v", shared, err)
	}
	lines, err := here.Open(t.Context())
	must(t, err)
	if text, err := io.ReadAll(lines); err != nil || len(text) > 0 {
		t.Errorf("a missing file has %d bytes: %v", len(text), err)
	}
}

func line(t testing.TB, id string) []byte {
	t.Helper()
	subject := fixture.MustID(t, id)
	entry := domain.JournalEntry{Installation: "shop", Number: 1, SubjectID: subject, ErasedAt: time.Unix(1, 0)}
	return entry.AppendLine(nil)
}

var must = fixture.Must
