package promise

import (
	"os"
	"slices"
	"testing"
)

func TestTheRecordEqualsTheFindings(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("testdata", 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(update bool, found ...string) string {
		return Watch(t, func(t testing.TB) {
			t.Helper()
			r := recordOf(t, update, slices.Values([]string{"a defect"}))
			if found != nil { // otherwise the run does not check the defect
				r.begin("a defect")
			}
			for _, name := range found {
				r.note("a defect", name)
			}
		}).Failures()
	}
	for _, step := range []struct {
		update bool
		found  []string
		fails  bool
	}{
		{false, nil, true}, // the file does not exist
		{true, []string{"one", "two"}, false},
		{false, []string{"two", "one"}, false},
		{false, nil, false},
		{true, nil, false},
		{false, []string{"one"}, true},                 // no case finds "two" any more
		{false, []string{"one", "two", "three"}, true}, // "three" is new
		{true, []string{"one"}, false},
		{false, []string{"one"}, false},
	} {
		if failures := run(step.update, step.found...); (failures != "") != step.fails {
			t.Errorf("found %q, update %v: failed with %q", step.found, step.update, failures)
		}
	}
	if text, _ := os.ReadFile("testdata/" + t.Name() + ".txt"); string(text) != "a defect: one\n" {
		t.Errorf("the record is %q", text)
	}
}
