package main

import (
	"fmt"
	"io"

	"github.com/habeas-data/habeas/tests/bench/drain"
	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/results"
)

// verdict writes lines for programs: medians of the ratios, pair by pair, and of the figures on SQLite.
func verdict(w io.Writer, all results.Set) {
	served, onSQLite, drained := all.Of(nameEndpoints), all.Of(nameSQLite), all.Of(drain.Name)
	ratios(w, "ratio", served, endpoints.Habeas)
	ratios(w, "ratio-shared", served, endpoints.Shared)
	if best := drained.With("side", drain.Best); len(best) > 0 {
		fmt.Fprintf(w, "ratio drain - %.3f\n", best.Ratio(drained.With("side", drain.River), "entries/s"))
	}
	ratios(w, "sqlite-ratio", onSQLite, endpoints.Habeas)
	eachLevel(onSQLite, func(endpoint, connections string, at results.Set) {
		for _, side := range at.Keys("side") {
			of := at.With("side", side)
			fmt.Fprintf(w, "sqlite-rate %s %s %s %.0f req/s, p99 %.1f ms\n", endpoint, connections, side,
				of.Median("req/s"), 1e3*of.Median("p99-sec"))
		}
	})
}

func ratios(w io.Writer, line string, set results.Set, side string) {
	eachLevel(set, func(endpoint, connections string, at results.Set) {
		fmt.Fprintf(w, "%s %s %s %.3f\n", line, endpoint, connections,
			at.With("side", side).Ratio(at.With("side", endpoints.Floor), "req/s"))
	})
}

// eachLevel calls a function for the results of each endpoint with each number of connections.
func eachLevel(set results.Set, fn func(endpoint, connections string, at results.Set)) {
	for _, endpoint := range set.Keys("endpoint") {
		of := set.With("endpoint", endpoint)
		for _, connections := range of.Keys("conns") {
			fn(endpoint, connections, of.With("conns", connections))
		}
	}
}
