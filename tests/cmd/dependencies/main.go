// Command dependencies writes the table of docs/dependencies.md: the modules that each package of the library links on
// Linux, besides the standard library. It runs in the root of the module.
package main

//go:generate go -C ../../.. run ./tests/cmd/dependencies -write

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	module = "github.com/habeas-data/habeas"
	page   = "docs/dependencies.md"
	begin  = "<!-- go generate ./tests/cmd/dependencies writes this table. -->\n"
	end    = "<!-- end of the table -->\n"
)

func main() {
	log.SetFlags(0)
	write := flag.Bool("write", false, "write the table into the page")
	flag.Parse()
	if err := run(os.Stdout, *write); err != nil {
		log.Fatal("dependencies: ", err)
	}
}

func run(out io.Writer, write bool) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	listed, err := list()
	if err != nil {
		return err
	}
	updated, err := replace(string(text), table(listed))
	if err != nil {
		return err
	}
	if !write {
		_, err := io.WriteString(out, updated)
		return err
	}
	return os.WriteFile(page, []byte(updated), 0o600)
}

// replace puts the table between the marks of the page.
func replace(text, table string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", errors.New(page + " has no marks around the table")
	}
	return before + begin + "\n" + table + "\n" + end + after, nil
}

// linked is a package with what it imports, directly or not.
type linked struct {
	ImportPath, Name string
	Deps             []string
	Module           *struct {
		Path string
		Main bool
	}
}

func list() (all []linked, err error) {
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Deps,Module", "./...")
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var one linked
		if err := decoder.Decode(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// isOffered reports whether applications may import the package, or install the program.
func (l linked) isOffered() bool {
	inside, ok := strings.CutPrefix(l.ImportPath, module+"/")
	return ok && !strings.Contains("/"+l.ImportPath+"/", "/internal/") && inside != "ports/mocks" &&
		inside != "app/quickstart" && !strings.HasPrefix(inside, "tests/") && !strings.HasPrefix(inside, "examples/")
}

// table has one row for each set of modules, and the packages that link exactly this set.
func table(all []linked) string {
	modules := map[string]string{}
	for _, one := range all {
		if one.Module != nil && !one.Module.Main {
			modules[one.ImportPath] = one.Module.Path
		}
	}
	packages := map[string][]string{}
	for _, one := range all {
		if !one.isOffered() {
			continue
		}
		set := map[string]bool{}
		for _, dependency := range one.Deps {
			if path, ok := modules[dependency]; ok {
				set["`"+path+"`"] = true
			}
		}
		row := strings.Join(slices.Sorted(maps.Keys(set)), " ")
		packages[row] = append(packages[row], "`"+strings.TrimPrefix(one.ImportPath, module+"/")+"`")
	}
	rows := slices.SortedFunc(maps.Keys(packages), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	var text strings.Builder
	text.WriteString("| Package | Modules that it links |\n|---|---|\n")
	for _, row := range rows {
		slices.Sort(packages[row])
		text.WriteString("| " + strings.Join(packages[row], " ") + " | " + orNothing(row) + " |\n")
	}
	return text.String()
}

func orNothing(row string) string {
	if row == "" {
		return "nothing"
	}
	return row
}
