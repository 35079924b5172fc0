package drain

import (
	"fmt"
	"os"
	"time"

	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

// Run is what one side came to in one run.
type Run struct {
	Rate float64 // entries per second
	// Processor time per entry, of the program and of PostgreSQL; 0 where that is not known.
	Program, Postgres time.Duration
}

func newRun(entries int, rate float64, before, after processorTime) Run {
	each := time.Duration(entries)
	return Run{
		Rate:     rate,
		Program:  (after.program - before.program) / each,
		Postgres: (after.postgres - before.postgres) / each,
	}
}

// Result is what a side came to. The runs of all sides at the same place belong together.
type Result struct {
	Setting Setting // zero for River
	Runs    []Run
}

func (r Result) name() string {
	if r.Setting == (Setting{}) {
		return "River"
	}
	return fmt.Sprintf("habeas, batches of %d, workers: %d", r.Setting.Batch, r.Setting.Workers)
}

// Ratio is the entries per second of the result by those of another one, run by run: more is better.
func (r Result) Ratio(other Result) stats.Spread {
	return stats.SpreadOf(stats.Ratios(r.rates(), other.rates()))
}

// noise is what a ratio between two runs of the very same program comes to on this machine: each run by the one before.
func (r Result) noise() stats.Spread {
	if len(r.Runs) < 2 {
		return stats.Spread{}
	}
	all := r.rates()
	return stats.SpreadOf(stats.Ratios(all[1:], all[:len(all)-1]))
}

func (r Result) rates() []float64 {
	rates := make([]float64, len(r.Runs))
	for i, run := range r.Runs {
		rates[i] = run.Rate
	}
	return rates
}

// processorTime is what this program and PostgreSQL have used so far; 0 where that is not known.
type processorTime struct{ program, postgres time.Duration }

func (c Config) processorTime() processorTime {
	var used processorTime
	if own, err := process.CPU(os.Getpid()); err == nil {
		used.program = own
	}
	if family, err := process.CPUOfFamily(c.ServerProcess); err == nil && c.ServerProcess != 0 {
		used.postgres = family
	}
	return used
}
