package wakeup

import (
	"fmt"
	"strconv"

	"github.com/habeas-data/habeas/tests/bench/report"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

// Section shows the results.
func Section(results []Result, config Config) report.Section {
	section := report.Section{
		Title: "Wake-up: from the commit of an erasure to the call of the external system",
		Table: report.Table{Header: []report.Column{
			{Title: "The worker is woken", Left: true},
			{Title: "Erasures"},
			{Title: "p50 ms"},
			{Title: "p99 ms"},
			{Title: "Most ms"},
		}},
		Notes: []string{
			"One erasure after the other, each when the worker is idle. The claim of the entry is part of it.",
			fmt.Sprintf("What polls does so every %v, here; by default every 5 s.", config.Poll),
		},
	}
	for _, result := range results {
		section.Table.Rows = append(section.Table.Rows, []string{
			result.Way.Title, strconv.Itoa(len(result.Latencies)),
			report.Milliseconds(stats.Percentile(result.Latencies, 50)),
			report.Milliseconds(stats.Percentile(result.Latencies, 99)),
			report.Milliseconds(stats.Percentile(result.Latencies, 100)),
		})
	}
	return section
}
