package drain

import (
	"fmt"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/tests/bench/report"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

// Section shows the results, of which River's is the first.
func Section(results []Result, config Config) report.Section {
	return report.Section{
		Title: "Drain: the outbox against a job queue",
		Intro: []string{
			"[River](https://riverqueue.com) works jobs that do nothing; habeas carries erasures to an external system that " +
				"answers at once, one of each subject, writes two events of each to the audit trail, and decides that the erasure " +
				"is complete.",
		},
		Table: table(results),
		Chart: report.Chart{
			Name: "drain.svg",
			Alt:  "Entries per second, River and habeas, by setting of habeas",
			SVG:  chart(results),
		},
		Notes: []string{
			fmt.Sprintf("Figures are medians of %d runs of %s entries each, in alternating pairs on databases of their own, between "+
				"the first and the last tenth of each run: how either side starts, and waits for a last batch to fill, is left out.",
				config.Pairs, report.Rate(float64(config.Entries))),
			fmt.Sprintf("River is set as in its own benchmark: a fetch every 2 ms, %s workers. habeas has one worker with "+
				"batches of %d unless app.Config says otherwise. The verdict is of batches of %d, workers: %d.",
				report.Rate(riverWorkers), Default.Batch, Best.Batch, Best.Workers),
			"Ratio: entries/s of habeas by those of River, the median of the pairs and its ends. Noise: the ends of the ratio " +
				"between two runs of River itself.",
			"CPU: processor time per entry, of the program and of PostgreSQL.",
		},
	}
}

func table(results []Result) report.Table {
	t := report.Table{Header: []report.Column{
		{Title: "Side", Left: true},
		{Title: "Batch"},
		{Title: "Workers"},
		{Title: "entries/s"},
		{Title: "CPU µs"},
		{Title: "PG CPU µs"},
		{Title: "Ratio"},
		{Title: "(spread)"},
		{Title: "Noise"},
	}}
	for i, result := range results {
		row := []string{"habeas", strconv.Itoa(result.Setting.Batch), strconv.Itoa(result.Setting.Workers)}
		ratio := result.Ratio(results[0])
		rest := []string{report.Ratio(ratio.Median), report.Spread(ratio), ""}
		if i == 0 {
			row = []string{"River", "", report.Rate(riverWorkers)}
			rest = []string{"", "", report.Spread(result.noise())}
		}
		row = append(row, report.Rate(stats.Median(result.rates())),
			report.Microseconds(median(result.Runs, func(run Run) time.Duration { return run.Program })),
			report.Microseconds(median(result.Runs, func(run Run) time.Duration { return run.Postgres })))
		t.Rows = append(t.Rows, append(row, rest...))
	}
	return t
}

func median(runs []Run, of func(Run) time.Duration) time.Duration {
	values := make([]time.Duration, len(runs))
	for i, run := range runs {
		values[i] = of(run)
	}
	return stats.Median(values)
}

func chart(results []Result) string {
	panel := report.Panel{Title: "Entries/s"}
	for _, result := range results[1:] {
		panel.Groups = append(panel.Groups, report.Group{
			Label:  fmt.Sprintf("%d × %d", result.Setting.Workers, result.Setting.Batch),
			Values: []float64{stats.Median(results[0].rates()), stats.Median(result.rates())},
			Note:   report.Ratio(result.Ratio(results[0]).Median) + "×",
		})
	}
	return report.Bars([]string{"River", "habeas, workers × batch"}, []report.Panel{panel})
}

// Verdict is a line for programs to read, about the best setting.
func Verdict(results []Result) string {
	for _, result := range results {
		if result.Setting == Best {
			return fmt.Sprintf("ratio drain - %.3f\n", result.Ratio(results[0]).Median)
		}
	}
	return ""
}
