package results

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

func set() (s Set) {
	for i, rates := range [][2]float64{{100, 150}, {200, 200}, {300, 600}} {
		s.Add("Endpoint", i+1, []benchfmt.Value{Value(rates[0], "req/s")}, "endpoint", "a b", "side", "floor")
		s.Add("Endpoint", i+1, []benchfmt.Value{Value(rates[1], "req/s")}, "endpoint", "a b", "side", "habeas")
	}
	s.Add("Drain", 9, []benchfmt.Value{Seconds(time.Millisecond, "sec/op")}, "rows", 10)
	return s
}

func TestResultsAreFoundByTheirKeys(t *testing.T) {
	s := set()
	if got := strings.Join(s.Keys("side"), " "); got != "floor habeas" {
		t.Errorf("sides = %s", got)
	}
	if got := s.Keys("endpoint"); len(got) != 1 || got[0] != "a_b" {
		t.Errorf("endpoints = %q", got)
	}
	if got := len(s.Of("Endpoint").With("side", "floor")); got != 3 {
		t.Errorf("%d results of the floor, want 3", got)
	}
	if got := s.Of("Drain").With("rows", 10).Median("sec/op"); got != 0.001 {
		t.Errorf("median = %v", got)
	}
}

func TestRatiosAreThoseOfThePairs(t *testing.T) {
	s := set()
	if got := s.With("side", "habeas").Ratio(s.With("side", "floor"), "req/s"); got != 1.5 {
		t.Errorf("ratio = %v, want 1.5", got)
	}
	if got := s.With("side", "nobody").Ratio(s, "req/s"); got != 0 {
		t.Errorf("ratio of nothing = %v", got)
	}
}

func TestBenchstatReadsTheResults(t *testing.T) {
	table, err := set().Of("Endpoint").Table(t.Context(), "/endpoint", "/side")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"floor", "habeas", "req/s", "a_b", "200.0"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is missing in\n%s", want, table)
		}
	}
}
