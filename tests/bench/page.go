package main

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/habeas-data/habeas/tests/bench/badday"
	"github.com/habeas-data/habeas/tests/bench/chart"
	"github.com/habeas-data/habeas/tests/bench/drain"
	"github.com/habeas-data/habeas/tests/bench/growth"
	"github.com/habeas-data/habeas/tests/bench/machine"
	"github.com/habeas-data/habeas/tests/bench/results"
	"github.com/habeas-data/habeas/tests/bench/wakeup"
)

// view describes a table of benchstat for the results with the given name. The fields row and column are names of keys.
// The table has a row for each value of the first key, and a column for each value of the second key.
type view struct{ name, row, column string }

var views = []view{
	{nameEndpoints, "/endpoint,/conns", "/side"},
	{nameSQLite, "/endpoint,/conns", "/side"},
	{drain.Name, "/side", ".name"},
	{wakeup.Name, "/by", ".name"},
	{growth.Tables, "/topic,/operation,/side", "/rows@num"},
	{growth.Subject, "/operation", "/rows@num"},
	{badday.NameBacklog, "/claim", "/side"},
	{badday.NameNeighbour, "/side", ".name"},
	{badday.NameChurn, "/second@num", "/claims,/side"},
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

// writePage writes README.md, its charts and the results into a directory. It creates the directory if necessary.
func writePage(ctx context.Context, directory string, here machine.Machine, all results.Set) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	var err error
	write := func(name string, content func(io.Writer) error) {
		var text strings.Builder
		err = errors.Join(err, content(&text), os.WriteFile(filepath.Join(directory, name), []byte(text.String()), 0o644))
	}
	write("README.md", func(w io.Writer) error {
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
		return parsed.Execute(w, here.Lines())
	})
	write("results.txt", all.Write)
	draw := func(name string, draw func(io.Writer, results.Set) error, of results.Set) {
		if len(of) > 0 {
			write(name+".svg", func(w io.Writer) error { return draw(w, of) })
		}
	}
	rates := chart.Chart{Panel: "endpoint", Series: "side", X: "conns", Unit: "req/s", Label: "requests/s"}
	draw("endpoints", rates.Bars, all.Of(nameEndpoints))
	draw("sqlite", rates.Bars, all.Of(nameSQLite))
	draw("drain", chart.Chart{X: "side", Unit: "entries/s", Label: "entries/s"}.Bars, all.Of(drain.Name))
	times := chart.Chart{Panel: "operation", Series: "side", X: "rows", Unit: "sec/op", Label: "ms", Scale: 1e3}
	for _, topic := range []string{growth.Claims, growth.Consents, growth.Shop} {
		draw("growth-"+topic, times.Lines, all.Of(growth.Tables).With("topic", topic))
	}
	perRow := chart.Chart{Series: "operation", X: "rows", Unit: "sec/row", Label: "µs per row", Scale: 1e6}
	draw("growth-subject", perRow.Lines, all.Of(growth.Subject))
	memory := chart.Chart{Series: "operation", X: "rows", Unit: "peak-B", Label: "peak MiB", Scale: 1.0 / (1 << 20)}
	draw("growth-memory", memory.Lines, all.Of(growth.Subject))
	claims := chart.Chart{Series: "side", X: "claim", Unit: "sec/op", Label: "ms", Scale: 1e3}
	draw("backlog", claims.Bars, all.Of(badday.NameBacklog))
	draw("neighbour", chart.Chart{X: "side", Unit: "entries/s", Label: "entries/s"}.Bars, all.Of(badday.NameNeighbour))
	over := chart.Chart{Panel: "claims", Series: "side", X: "second", Unit: "sec/op", Label: "ms", Scale: 1e3}
	over.Linear = true
	draw("churn", over.Lines, all.Of(badday.NameChurn))
	return err
}
