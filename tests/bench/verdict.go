package main

import (
	"fmt"
	"slices"

	"github.com/habeas-data/habeas/tests/bench/badday"
	"github.com/habeas-data/habeas/tests/bench/drain"
	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
)

// verdict returns lines that a program can parse. They have the medians of the ratios between habeas and the program
// with which it is compared (the hand-written server or River), those of a healthy system on bad days, and the medians
// of the results on SQLite. The ratios of processor time come first, because they depend least on the machine.
func verdict(all results.Set) (lines []string) {
	served, onSQLite, drained := all.Of(nameEndpoints), all.Of(nameSQLite), all.Of(drain.Name)
	lines = slices.Concat(ratios("cost", served, process.Cost), ratios("sqlite-cost", onSQLite, process.Cost),
		ratios("ratio", served, "req/s"))
	for _, of := range []struct {
		name    string
		setting drain.Setting
	}{{"drain", drain.Best}, {"drain-default", drain.Default}} {
		if side := drained.With("side", of.setting); len(side) > 0 {
			ratio := side.Ratio(drained.With("side", drain.River), "entries/s")
			lines = append(lines, fmt.Sprintf("ratio %s - %.3f", of.name, ratio))
		}
	}
	beside := all.Of(badday.NameNeighbour)
	for _, side := range beside.Keys("side") {
		if side != "none" {
			ratio := beside.With("side", side).Ratio(beside.With("side", "none"), "entries/s")
			lines = append(lines, fmt.Sprintf("ratio badday %s %.3f", side, ratio))
		}
	}
	lines = append(lines, ratios("sqlite-ratio", onSQLite, "req/s")...)
	eachLevel(onSQLite, func(endpoint, connections string, at results.Set) {
		for _, side := range at.Keys("side") {
			of := at.With("side", side)
			lines = append(lines, fmt.Sprintf("sqlite-rate %s %s %s %.0f req/s, p99 %.1f ms", endpoint, connections, side,
				of.Median("req/s"), 1e3*of.Median("p99-sec")))
		}
	})
	return lines
}

// ratios returns a line for each level. It omits a ratio of 0, which means that the values are unknown.
func ratios(line string, set results.Set, unit string) (lines []string) {
	eachLevel(set, func(endpoint, connections string, at results.Set) {
		if ratio := at.With("side", endpoints.Habeas).Ratio(at.With("side", endpoints.Floor), unit); ratio > 0 {
			lines = append(lines, fmt.Sprintf("%s %s %s %.3f", line, endpoint, connections, ratio))
		}
	})
	return lines
}

// eachLevel calls fn once for each combination of an endpoint and a number of connections, with the results of this
// combination.
func eachLevel(set results.Set, fn func(endpoint, connections string, at results.Set)) {
	for _, endpoint := range set.Keys("endpoint") {
		of := set.With("endpoint", endpoint)
		for _, connections := range of.Keys("conns") {
			fn(endpoint, connections, of.With("conns", connections))
		}
	}
}
