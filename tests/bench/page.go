package main

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/habeas-data/habeas/tests/bench/badday"
	"github.com/habeas-data/habeas/tests/bench/drain"
	"github.com/habeas-data/habeas/tests/bench/results"
)

// view describes a table of benchstat for the results with the given name. The fields row and column are names of keys.
// The table has a row for each value of the first key, and a column for each value of the second key.
type view struct{ name, row, column string }

var views = []view{
	{nameEndpoints, "/endpoint,/conns", "/side"},
	{nameSQLite, "/endpoint,/conns", "/side"},
	{drain.Name, "/side", ".name"},
	{badday.NameBacklog, "/claim", "/side"},
	{badday.NameNeighbour, "/side", ".name"},
}

// table returns the table as text, or "" if there are no results.
func (v view) table(ctx context.Context, all results.Set) (string, error) {
	of := all.Of(v.name)
	if len(of) == 0 {
		return "", nil
	}
	return of.Table(ctx, v.row, v.column)
}

//go:embed page.md
var page string

// writePage writes README.md and the results into a directory.
func writePage(ctx context.Context, directory string, here []string, all results.Set) error {
	functions := template.FuncMap{"table": func(name string) (string, error) {
		for _, view := range views {
			if view.name == name {
				text, err := view.table(ctx, all)
				return strings.Trim(text, "\n"), err
			}
		}
		return "", errors.New("there is no view of " + name)
	}, "verdict": func() string { return strings.Join(verdict(all), "\n") }}
	parsed, err := template.New("page").Funcs(functions).Parse(page)
	if err != nil {
		return err
	}
	var text, data strings.Builder
	if err := errors.Join(parsed.Execute(&text, here), all.Write(&data)); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(directory, "README.md"), []byte(text.String()), 0o644),
		os.WriteFile(filepath.Join(directory, "results.txt"), []byte(data.String()), 0o644))
}
