package endpoints

import (
	"time"

	"github.com/habeas-data/habeas/tests/bench/load"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

// Run is what one side came to in one run.
type Run struct {
	Rate     float64       // requests per second
	P50, P99 time.Duration // latency
	// Processor time per request, of the side's server and of PostgreSQL; 0 where that is not known.
	Server, Postgres time.Duration
}

func newRun(result load.Result, before, after processorTime) Run {
	each := time.Duration(result.Answered)
	return Run{
		Rate:     result.Rate(),
		P50:      stats.Percentile(result.Latencies, 50),
		P99:      stats.Percentile(result.Latencies, 99),
		Server:   (after.server - before.server) / each,
		Postgres: (after.postgres - before.postgres) / each,
	}
}

// Result is what an endpoint came to with so many connections. The runs of both sides at the same place are a pair.
type Result struct {
	Endpoint    Endpoint
	Connections int
	Floor       []Run
	Habeas      []Run
}

func (r *Result) add(side string, run Run) {
	if side == Floor {
		r.Floor = append(r.Floor, run)
	} else {
		r.Habeas = append(r.Habeas, run)
	}
}

// Ratio is the requests per second of habeas by those of the floor, pair by pair: more is better.
func (r Result) Ratio() stats.Spread {
	return stats.SpreadOf(stats.Ratios(rates(r.Habeas), rates(r.Floor)))
}

// Tail is the 99th percentile of the latency of habeas by that of the floor, pair by pair: less is better.
func (r Result) Tail() stats.Spread {
	return stats.SpreadOf(stats.Ratios(tails(r.Habeas), tails(r.Floor)))
}

// Noise is what a ratio between two runs of the very same program comes to on this machine: each run of the floor by the
// one before it.
func (r Result) Noise() stats.Spread {
	if len(r.Floor) < 2 {
		return stats.Spread{}
	}
	all := rates(r.Floor)
	return stats.SpreadOf(stats.Ratios(all[1:], all[:len(all)-1]))
}

func rates(runs []Run) []float64 {
	return each(runs, func(run Run) float64 { return run.Rate })
}

func tails(runs []Run) []float64 {
	return each(runs, func(run Run) float64 { return float64(run.P99) })
}

func each[N stats.Number](runs []Run, number func(Run) N) []N {
	numbers := make([]N, len(runs))
	for i, run := range runs {
		numbers[i] = number(run)
	}
	return numbers
}
