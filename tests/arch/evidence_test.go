package arch

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// evidence are the functions that read creation times and surrogates of rows.
var evidence = []string{
	"AddedAt", "ReadAddedAt", "EarliestAddedAt", "Identifying", "IdentifyingOn", "IsErased", "LifeEvidence", "AddedValue",
	"addedValue", "earliestAdded",
}

// readers are the files that may call them. Only domain.ErasureMark.Life judges whether a row belongs to an erased
// person or to a new one, and the stores collect the evidence for it. The other files have another purpose.
var readers = map[string]string{
	"domain/plan/surrogate.go":              "defines the columns with distinctive surrogates",
	"domain/plan/life.go":                   "reads the evidence of a row",
	"adapters/persistence/memory/life.go":   "collects the evidence",
	"adapters/persistence/memory/erase.go":  "reads the creation time for the mark",
	"adapters/persistence/memory/sweep.go":  "skips rows without surrogates of their own",
	"adapters/persistence/memory/verify.go": "skips rows that were added after an erasure, in an ended life",

	bunstoreInternals + "rows/rows.go":    "has the expression for package subject",
	bunstoreInternals + "subject/life.go": "collects the evidence, also for the mark",

	bunstoreInternals + "subject/exportlife.go": "collects the evidence in the one statement of an export",

	bunstoreInternals + "rows/overwrite.go": "skips rows without surrogates of their own, and rows that were added later",
}

const bunstoreInternals = "adapters/persistence/bunstore/internal/"

// The rules on lives (see domain.Life) hold only if no other code guesses whose a row is.
func TestOnlyOneFunctionJudgesWhoseARowIs(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range sources(t) {
		if strings.HasSuffix(file.path, "_test.go") || !file.in("domain/...", "ports", "adapters/...", "app/...") {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch called := call.Fun.(type) {
			case *ast.Ident:
				name = called.Name
			case *ast.SelectorExpr:
				name = called.Sel.Name
			}
			if slices.Contains(evidence, name) {
				seen[file.path] = true
				if readers[file.path] == "" {
					t.Errorf("%s calls %s: call SubjectStore.State, which domain.ErasureMark.Life judges", file.path, name)
				}
			}
			return true
		})
	}
	for _, path := range slices.Sorted(maps.Keys(readers)) {
		if !seen[path] {
			t.Errorf("%s reads no evidence: remove it from the list", path)
		}
	}
}
