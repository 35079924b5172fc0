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

// record is the content of the file testdata/<test>.txt. Each line names a defect, and a test case that finds this
// defect.
type record struct {
	file   string
	update bool

	mu        sync.Mutex
	found     map[string]bool // lines of the file and of this run; true for this run
	unchecked map[string]bool // defects that this run has not checked
	missing   []string        // lines of this run that are not in the file
}

// recordOf reads the record file of the test. When the test ends, recordOf writes the file if update is true. Otherwise
// it fails the test if the file and the results of the run differ.
func recordOf(t testing.TB, update bool, defects iter.Seq[string]) *record {
	t.Helper()
	file := filepath.Join("testdata", t.Name()+".txt")
	r := &record{file: file, update: update, found: map[string]bool{}, unchecked: map[string]bool{}}
	for defect := range defects {
		r.unchecked[defect] = true
	}
	text, err := os.ReadFile(r.file)
	Must(t, err == nil || update, "%s is missing; run the test with -update: %v", r.file, err)
	for line := range strings.Lines(string(text)) {
		r.found[strings.TrimSuffix(line, "\n")] = false
	}
	t.Cleanup(func() { r.close(t) })
	return r
}

func lineOf(defect, name string) string { return defect + ": " + name }

// begin notes that this run checks the defect. The test may run with only some of the defects.
func (r *record) begin(defect string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.unchecked, defect)
}

// has reports whether the file has a line for the defect and the test case with the given name.
func (r *record) has(defect, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, recorded := r.found[lineOf(defect, name)]
	return recorded
}

// note records that the test case with the given name has found the defect in this run.
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
	Assert(t, len(r.missing) == 0 || r.update, "%s lacks these lines; run the test with -update: %q", r.file, r.missing)
	var lines []string
	for line, found := range r.found {
		found = found || r.unchecked[line[:max(0, strings.LastIndex(line, ": "))]]
		Assert(t, found || r.update, "%s: no defect or no case belongs to the line %q", r.file, line)
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
