package promise

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// record is the file testdata/<test>.txt: a line for each defect of the test and each case that finds it.
type record struct {
	file   string
	update bool

	mu      sync.Mutex
	found   map[string]bool // by line; whether this run has found it, too
	left    map[string]bool // defects that this run has not looked at
	missing []string        // lines that this run has found, and that were not there
}

// recordOf reads the record of the test about these defects. When the test ends, it is written if that is asked for, or
// must be what was found.
func recordOf(t testing.TB, update bool, defects iter.Seq[string]) *record {
	t.Helper()
	file := filepath.Join("testdata", t.Name()+".txt")
	r := &record{file: file, update: update, found: map[string]bool{}, left: map[string]bool{}}
	for defect := range defects {
		r.left[defect] = true
	}
	text, err := os.ReadFile(r.file)
	Must(t, err == nil || update, "%s is not there; -update writes it: %v", r.file, err)
	for line := range strings.Lines(string(text)) {
		r.found[strings.TrimSuffix(line, "\n")] = false
	}
	t.Cleanup(func() { r.close(t) })
	return r
}

func lineOf(defect, name string) string { return defect + ": " + name }

// begin says that the run looks at a defect.
func (r *record) begin(defect string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.left, defect)
}

// has reports whether a case is recorded to find a defect.
func (r *record) has(defect, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, recorded := r.found[lineOf(defect, name)]
	return recorded
}

// note records that a case has found a defect.
func (r *record) note(defect, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := lineOf(defect, name)
	if _, recorded := r.found[line]; !recorded {
		r.missing = append(r.missing, line)
	}
	r.found[line] = true
}

func (r *record) close(t testing.TB) {
	t.Helper()
	Assert(t, len(r.missing) == 0 || r.update, "%s has not, and -update adds: %q", r.file, r.missing)
	var lines []string
	for line, found := range r.found {
		found = found || r.left[line[:max(0, strings.LastIndex(line, ": "))]]
		Assert(t, found || r.update, "%s: %q is of no defect, or of no case", r.file, line)
		if found {
			lines = append(lines, line+"\n")
		}
	}
	slices.Sort(lines)
	if r.update && !t.Failed() {
		err := os.WriteFile(r.file, []byte(strings.Join(lines, "")), 0o600)
		Assert(t, err == nil, "%s cannot be written: %v", r.file, err)
	}
}
