package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const store = `package memory

func due(at, now int) bool { return at <= now }

func refused(table string) string { return "no " + table }
`

const report = `{"files": [{"file_name": "due.go", "mutations": [
	{"type": "CONDITIONALS_BOUNDARY", "status": "LIVED", "line": 3, "column": 40},
	{"type": "CONDITIONALS_NEGATION", "status": "KILLED", "line": 3, "column": 40},
	{"type": "ARITHMETIC_BASE", "status": "NOT COVERED", "line": 5, "column": 50}]}]}`

const survivor = "due.go due CONDITIONALS_BOUNDARY: func due(at, now int) bool { return at ►<= now }"

func TestASurvivorMustBeListedWithAReason(t *testing.T) {
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "due.go"), []byte(store), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ report, list, failure, printed string }{
		"not listed":       {report, "", "1 mutants survived", survivor + "\n3 mutants, 0 may survive\n"},
		"listed":           {report, survivor + " # no case can see it\n", "", "3 mutants, 1 may survive\n"},
		"without a reason": {report, survivor + "\n", "without a reason", ""},
		"too many":         {report, manyLines(), "at most 40", ""},
		"an empty report":  {"{}", "", "no mutants", "0 mutants, 0 may survive\n"},
	} {
		printed := &strings.Builder{}
		err := judge(printed, []byte(test.report), test.list, directory)
		if (err == nil) != (test.failure == "") || err != nil && !strings.Contains(err.Error(), test.failure) {
			t.Errorf("%s: %v", name, err)
		}
		if printed.String() != test.printed {
			t.Errorf("%s: printed is\n%s", name, printed)
		}
	}
}

// manyLines returns a list of more mutants than are allowed.
func manyLines() (list string) {
	for i := range maxListed + 1 {
		list += strings.Repeat("x", i+1) + " # because\n"
	}
	return list
}

func TestTheListIsValid(t *testing.T) {
	list, err := os.ReadFile("survivors.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseList(string(list)); err != nil {
		t.Error(err)
	}
}
