package growth

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/report"
)

// topic are operations that are shown together.
type topic struct {
	name       string // of its chart
	title      string
	grows      string // what does, the axis of its chart
	operations []operation
	notes      []string
}

const overHTTP = "Over HTTP, one request at a time, until the last byte is there; of users at random. The hand-written side works on the " +
	"same databases."

var topics = []topic{
	{
		"growth-claims", "Growth: claims, as settled entries remain", "settled entries in the outbox", claims,
		[]string{"Past HTTP, as the worker does it."},
	},
	{
		"growth-consent", "Growth: consent status, as the ledger grows", "records in the consent ledger", onBothSides(consents),
		[]string{
			overHTTP,
			"Again: the same request a second time, which finds all pages that it needs in the server's memory.",
		},
	},
	{
		"growth-tables", "Growth: export and erasure of one subject, as the tables grow",
		"orders in the shop, with all other tables in proportion and as many records of habeas", onBothSides(subjects),
		[]string{
			overHTTP,
			"What is not in the server's memory has to be fetched, the more often the larger the tables are: 128 MB are not enough for the " +
				"largest. Again: the same request a second time, which finds all pages there.",
			"A page that changes for the first time after a checkpoint is logged as a whole. In large tables these are other pages for " +
				"each user; in small ones all users share a few, of which most were changed the moment before. Prepared: an erasure of " +
				"somebody who was exported just before, after a checkpoint, so that all sizes find their pages in memory and log them.",
		},
	},
}

// tableSections show what the tables' growth came to.
func (c Config) tableSections(all map[string][]Series) []report.Section {
	var sections []report.Section
	for _, topic := range topics {
		series := all[topic.name]
		sections = append(sections, report.Section{
			Title: topic.title,
			Table: c.table(series),
			Chart: report.Chart{
				Name: topic.name + ".svg",
				Alt:  "Milliseconds by number of " + topic.grows,
				SVG:  c.chart(series),
			},
			Notes: append([]string{
				c.flat(series),
				fmt.Sprintf("Columns: number of %s. Figures: milliseconds, medians of %d rounds, in each of which all sizes had their "+
					"turn, each in a database of its own.", topic.grows, c.Rounds),
			}, topic.notes...),
		})
	}
	return sections
}

func (c Config) table(series []Series) report.Table {
	t := report.Table{Header: []report.Column{{Title: "Operation", Left: true}, {Title: "Side", Left: true}}}
	for _, size := range c.Sizes {
		t.Header = append(t.Header, report.Column{Title: report.Rate(float64(size))})
	}
	t.Header = append(t.Header, report.Column{Title: "Factor"}, report.Column{Title: "(spread)"})
	for _, s := range series {
		row := []string{s.Operation, s.Side}
		for i := range c.Sizes {
			row = append(row, fmt.Sprintf("%.3f", milliseconds(s.median(i))))
		}
		t.Rows = append(t.Rows, append(row, report.Ratio(s.Factor().Median), report.Spread(s.Factor())))
	}
	return t
}

// chart has a plot for each operation, with a line for each side.
func (c Config) chart(series []Series) string {
	var plots []report.Plot
	for _, s := range series {
		line := report.Line{Name: s.Side}
		for i, size := range c.Sizes {
			line.Points = append(line.Points, report.Point{X: float64(size), Y: milliseconds(s.median(i))})
		}
		title := s.Operation + ", ms"
		at := slices.IndexFunc(plots, func(plot report.Plot) bool { return plot.Title == title })
		if at < 0 {
			at, plots = len(plots), append(plots, report.Plot{Title: title})
		}
		plots[at].Lines = append(plots[at].Lines, line)
	}
	return report.Lines(plots)
}

// flat says what should be flat, and how flat it is.
func (c Config) flat(series []Series) string {
	var parts []string
	for _, s := range series {
		if s.Side == endpoints.Habeas {
			parts = append(parts, s.Operation+": "+report.Ratio(s.Factor().Median))
		}
	}
	return fmt.Sprintf("All of it should be flat. The cost to habeas at %s by that at %s: %s.",
		report.Rate(float64(c.Sizes[len(c.Sizes)-1])), report.Rate(float64(c.Sizes[0])), strings.Join(parts, "; "))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
