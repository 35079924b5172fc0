package endpoints

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/tests/bench/report"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

// Section shows the results.
func Section(results []Result, config Config) report.Section {
	return report.Section{
		Title: "Endpoints: habeas against hand-written code",
		Intro: []string{
			"The hand-written side is [one small program](../../tests/bench/floor) with Fiber and pgx: the same answers, the same " +
				"rows in the same tables, the same durability. habeas is [wired as the README says](../../tests/bench/habeas).",
		},
		Table: table(results),
		Chart: report.Chart{
			Name: "endpoints.svg",
			Alt:  "Requests per second of each endpoint, hand-written and habeas, by number of connections",
			SVG:  chart(results),
		},
		Notes: []string{
			fmt.Sprintf("Figures are medians of %d runs of %v on each side, after %v of warming up (the first: %v), in alternating pairs on "+
				"databases of %s users each; the load generator runs on the same machine.",
				config.Pairs, config.Duration, config.warmup(1), config.warmup(0), report.Rate(float64(config.Users))),
			"Ratio: requests/s of habeas by those of the floor, the median of the pairs and its ends. p99 ratio: the same of " +
				"the 99th percentile of the latency.",
			"Noise: the ends of the ratio between two runs of the floor itself.",
			"CPU: processor time per request, of the server and of PostgreSQL.",
		},
	}
}

func table(results []Result) report.Table {
	t := report.Table{Header: []report.Column{
		{Title: "Endpoint", Left: true},
		{Title: "Conns"},
		{Title: "Side", Left: true},
		{Title: "req/s"},
		{Title: "p50 ms"},
		{Title: "p99 ms"},
		{Title: "CPU µs"},
		{Title: "PG CPU µs"},
		{Title: "Ratio"},
		{Title: "(spread)"},
		{Title: "p99 ratio"},
		{Title: "Noise"},
	}}
	for _, endpoint := range All() {
		for _, result := range results {
			if result.Endpoint.Name != endpoint.Name {
				continue
			}
			floor := append(cells(result, Floor, result.Floor), "", "", "", report.Spread(result.Noise()))
			habeas := append(cells(result, Habeas, result.Habeas), report.Ratio(result.Ratio().Median),
				report.Spread(result.Ratio()), report.Ratio(result.Tail().Median), "")
			t.Rows = append(t.Rows, floor, habeas)
		}
	}
	return t
}

func cells(result Result, side string, runs []Run) []string {
	median := medians(runs)
	return []string{
		result.Endpoint.Title, strconv.Itoa(result.Connections), side, report.Rate(median.Rate),
		report.Milliseconds(median.P50), report.Milliseconds(median.P99),
		report.Microseconds(median.Server), report.Microseconds(median.Postgres),
	}
}

// medians is a run whose every figure is the median of the runs.
func medians(runs []Run) Run {
	return Run{
		Rate:     stats.Median(rates(runs)),
		P50:      stats.Median(each(runs, func(run Run) time.Duration { return run.P50 })),
		P99:      stats.Median(each(runs, func(run Run) time.Duration { return run.P99 })),
		Server:   stats.Median(each(runs, func(run Run) time.Duration { return run.Server })),
		Postgres: stats.Median(each(runs, func(run Run) time.Duration { return run.Postgres })),
	}
}

func chart(results []Result) string {
	var panels []report.Panel
	for _, endpoint := range All() {
		panel := report.Panel{Title: endpoint.Title + ", requests/s"}
		for _, result := range results {
			if result.Endpoint.Name != endpoint.Name {
				continue
			}
			label := strconv.Itoa(result.Connections) + " connections"
			if result.Connections == 1 {
				label = "1 connection"
			}
			panel.Groups = append(panel.Groups, report.Group{
				Label:  label,
				Values: []float64{stats.Median(rates(result.Floor)), stats.Median(rates(result.Habeas))},
				Note:   report.Ratio(result.Ratio().Median) + "×",
			})
		}
		if len(panel.Groups) > 0 {
			panels = append(panels, panel)
		}
	}
	return report.Bars([]string{"hand-written", "habeas"}, panels)
}

// Verdict is a line for each endpoint and number of connections above 1, for programs to read.
func Verdict(results []Result) string {
	var text strings.Builder
	for _, endpoint := range All() {
		for _, result := range results {
			if result.Endpoint.Name == endpoint.Name && result.Connections > 1 {
				fmt.Fprintf(&text, "ratio %s %d %.3f\n", endpoint.Name, result.Connections, result.Ratio().Median)
			}
		}
	}
	return text.String()
}
