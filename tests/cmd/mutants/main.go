// Command mutants judges a report of gremlins, the program that "make test-mutants" runs on the store in memory. Each
// mutant, which is a changed operator or keyword in the source, must be killed: a case of the conformance suites fails.
// The command fails if a mutant has survived that is not in survivors.txt. It runs in the root of the module.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strings"
)

const (
	source = "adapters/persistence/memory"
	listed = "tests/cmd/mutants/survivors.txt"
	// maxListed is the maximum number of mutants in the list. A longer list would hide missing promises.
	maxListed = 40
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: mutants report.json")
	}
	report, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal("mutants: ", err)
	}
	list, err := os.ReadFile(listed)
	if err != nil {
		log.Fatal("mutants: ", err)
	}
	unlisted := &strings.Builder{}
	err = judge(unlisted, report, string(list), source)
	fmt.Print(unlisted)
	if err != nil {
		log.Fatal("mutants: ", err)
	}
}

// mutation is a mutant in a report.
type mutation struct {
	Type, Status string
	Line, Column int
}

// survived reports whether no test has found the mutant. A mutant that made the tests exceed their time was found.
func (m mutation) survived() bool { return m.Status == "LIVED" || m.Status == "NOT COVERED" }

// judge writes the survivors of the report that are not in the list, and returns an error if there are any.
func judge(out *strings.Builder, report []byte, list, directory string) error {
	var mutated struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []mutation
		}
	}
	if err := json.Unmarshal(report, &mutated); err != nil {
		return err
	}
	known, err := parseList(list)
	if err != nil {
		return err
	}
	mutants, unlisted := 0, 0
	for _, file := range mutated.Files {
		names, err := survivors(filepath.Join(directory, filepath.Base(file.Name)), file.Mutations)
		if err != nil {
			return err
		}
		mutants += len(file.Mutations)
		for _, name := range names {
			if !known[name] {
				unlisted++
				fmt.Fprintln(out, name)
			}
		}
	}
	fmt.Fprintf(out, "%d mutants, %d may survive\n", mutants, len(known))
	switch {
	case mutants == 0:
		return errors.New("the report has no mutants")
	case unlisted > 0:
		return fmt.Errorf("%d mutants survived: add cases to the suites, or list them with a reason in %s", unlisted, listed)
	default:
		return nil
	}
}

// parseList returns the names of the mutants in the list. Each line has a name, " # " and a reason.
func parseList(list string) (map[string]bool, error) {
	known := map[string]bool{}
	for line := range strings.Lines(list) {
		name, reason, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " # ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: a line without a reason: %s", listed, name)
		}
		known[name] = true
	}
	if len(known) > maxListed {
		return nil, fmt.Errorf("%s: %d mutants, at most %d are allowed", listed, len(known), maxListed)
	}
	return known, nil
}

// survivors returns the names of the mutants that survived in a file. A name has the file, the function, the kind of
// the mutation, and the line of the source with a mark before what is changed. It does not depend on the number of the
// line.
func survivors(path string, mutations []mutation) (names []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	for _, m := range mutations {
		at := files.File(file.Pos()).LineStart(m.Line) + token.Pos(m.Column-1)
		if !m.survived() || joinsTexts(file, at) {
			continue
		}
		function := "-"
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Pos() <= at && at < f.End() {
				function = f.Name.Name
			}
		}
		line := lines[m.Line-1]
		line = strings.TrimSpace(line[:m.Column-1] + "►" + line[m.Column-1:])
		names = append(names, fmt.Sprintf("%s %s %s: %s", filepath.Base(path), function, m.Type, line))
	}
	return names, nil
}

// joinsTexts reports whether the operator at the position joins texts, one of which is a constant. A mutant of it does
// not compile. gremlins compiles only mutants in lines that a test runs, so it reports the others as not covered.
func joinsTexts(file *ast.File, at token.Pos) (joins bool) {
	ast.Inspect(file, func(node ast.Node) bool {
		if sum, ok := node.(*ast.BinaryExpr); ok && sum.Op == token.ADD && sum.Pos() <= at && at < sum.End() {
			ast.Inspect(sum, func(operand ast.Node) bool {
				text, ok := operand.(*ast.BasicLit)
				joins = joins || ok && text.Kind == token.STRING
				return !joins
			})
		}
		return !joins
	})
	return joins
}
