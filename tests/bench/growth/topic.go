package growth

import (
	"fmt"
	"strings"
	"time"

	"github.com/habeas-data/habeas/tests/bench/report"
)

// topic are operations that are shown together.
type topic struct {
	name       string // of its chart
	title      string
	axis       string // what grows
	grows      string // the same in full
	operations []operation
}

var topics = []topic{
	{"growth-claims", "Growth: claims, as settled entries remain", "settled entries", "settled entries in the outbox", claims},
	{"growth-consent", "Growth: consent status, as the ledger grows", "records", "records in the consent ledger", consents},
	{
		"growth-tables", "Growth: export and erasure of one subject, as the tables grow",
		"orders", "orders in the shop, with all other tables in proportion and as many records of habeas", subjects,
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
				SVG:  c.chart(topic, series),
			},
			Notes: []string{
				c.flat(series),
				fmt.Sprintf("Columns: number of %s. Figures: milliseconds, medians of %d rounds, in each of which all sizes had their "+
					"turn, each in a database of its own, and subjects are chosen at random.", topic.grows, c.Rounds),
				"What is done again, or after an export, finds in the server's memory what it reads of the subject. The rest may have to " +
					"fetch it, the more often the larger the tables are; and the server logs a page as a whole when it changes for the " +
					"first time after a checkpoint, which in large tables are other pages for each subject.",
			},
		})
	}
	return sections
}

func (c Config) table(series []Series) report.Table {
	t := report.Table{Header: []report.Column{{Title: "Operation", Left: true}}}
	for _, size := range c.Sizes {
		t.Header = append(t.Header, report.Column{Title: report.Rate(float64(size))})
	}
	t.Header = append(t.Header, report.Column{Title: "Factor"}, report.Column{Title: "(spread)"})
	for _, s := range series {
		row := []string{s.Operation}
		for i := range c.Sizes {
			row = append(row, fmt.Sprintf("%.3f", milliseconds(s.median(i))))
		}
		t.Rows = append(t.Rows, append(row, report.Ratio(s.Factor().Median), report.Spread(s.Factor())))
	}
	return t
}

func (c Config) chart(topic topic, series []Series) string {
	plot := report.Plot{Title: "Milliseconds, by number of " + topic.axis}
	for _, s := range series {
		line := report.Line{Name: s.Operation}
		for i, size := range c.Sizes {
			line.Points = append(line.Points, report.Point{X: float64(size), Y: milliseconds(s.median(i))})
		}
		plot.Lines = append(plot.Lines, line)
	}
	return report.Lines([]report.Plot{plot})
}

// flat says what should be flat, and how flat it is.
func (c Config) flat(series []Series) string {
	parts := make([]string, len(series))
	for i, s := range series {
		parts[i] = s.Operation + " " + report.Ratio(s.Factor().Median)
	}
	return fmt.Sprintf("All of it should be flat. The cost at %s by that at %s: %s.",
		report.Rate(float64(c.Sizes[len(c.Sizes)-1])), report.Rate(float64(c.Sizes[0])), strings.Join(parts, ", "))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
