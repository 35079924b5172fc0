package main

import (
	"slices"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/drain"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
)

func TestTheVerdictIsForPrograms(t *testing.T) {
	var all results.Set
	add := func(name, side string, rate float64, costs ...float64) {
		for _, cost := range costs {
			values := []benchfmt.Value{
				results.Value(rate, "req/s"), results.Value(0.0125, "p99-sec"), results.Value(cost, process.Cost),
			}
			all.Add(name, 1, values, "endpoint", "erase", "conns", 64, "side", side)
		}
	}
	add(nameEndpoints, "floor", 100, 1, 2, 10)
	add(nameEndpoints, "habeas", 150, 1.5, 1, 12) // in the rounds: 1.5, 0.5, 1.2 times the cost
	add(nameSQLite, "floor", 100, 2)
	add(nameSQLite, "habeas", 90, 3)
	all.Add(drain.Name, 1, []benchfmt.Value{results.Value(1000, "entries/s")}, "side", drain.River)
	all.Add(drain.Name, 1, []benchfmt.Value{results.Value(900, "entries/s")}, "side", drain.Best)
	all.Add(drain.Name, 1, []benchfmt.Value{results.Value(800, "entries/s")}, "side", drain.Default)
	want := []string{
		"cost erase 64 1.200",
		"sqlite-cost erase 64 1.500",
		"ratio erase 64 1.500",
		"ratio drain - 0.900",
		"ratio drain-default - 0.800",
		"sqlite-ratio erase 64 0.900",
		"sqlite-rate erase 64 floor 100 req/s, p99 12.5 ms",
		"sqlite-rate erase 64 habeas 90 req/s, p99 12.5 ms",
	}
	if got := verdict(all); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
