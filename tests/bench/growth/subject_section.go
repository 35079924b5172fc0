package growth

import (
	"fmt"
	"time"

	"github.com/habeas-data/habeas/tests/bench/report"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

// subjectSections show what a subject's growth came to.
func (c Config) subjectSections(all []Subject) []report.Section {
	largest, reference := all[len(all)-1], all[max(len(all)-2, 0)]
	by := fmt.Sprintf("%s rows by those at %s", report.Rate(float64(largest.Rows)), report.Rate(float64(reference.Rows)))
	return []report.Section{{
		Title: "Growth: export and erasure, as the subject grows",
		Table: timeTable(all),
		Chart: report.Chart{
			Name: "growth-subject.svg",
			Alt:  "Microseconds per row of the subject, by number of rows",
			SVG: report.Lines([]report.Plot{{Title: "Microseconds per row, by rows of the subject", Lines: []report.Line{
				line(all, "Export", func(s Subject) float64 { return microseconds(s.perRow(s.Export)) }),
				line(all, "Erasure", func(s Subject) float64 { return microseconds(s.perRow(s.Erase)) }),
			}}}),
		},
		Notes: []string{
			fmt.Sprintf("The cost of a row should be flat, once there are so many that the rest does not count. At %s: export %s, "+
				"erasure %s.", by, factor(largest.perRow(largest.Export), reference.perRow(reference.Export)),
				factor(largest.perRow(largest.Erase), reference.perRow(reference.Erase))),
			fmt.Sprintf("Over HTTP, until the last byte is there; medians of %d subjects of each size.", c.Each),
		},
	}, {
		Title: "Growth: memory, as the subject grows",
		Table: memoryTable(all),
		Chart: report.Chart{
			Name: "growth-memory.svg",
			Alt:  "Peak memory of the server, by number of rows of the subject",
			SVG: report.Lines([]report.Plot{{Title: "Peak memory of the server in MiB, by rows", Lines: []report.Line{
				line(all, "after exports", func(s Subject) float64 { return mebibytes(s.ExportPeak) }),
				line(all, "after erasures", func(s Subject) float64 { return mebibytes(s.ErasePeak) }),
			}}}),
		},
		Notes: []string{
			fmt.Sprintf("The memory of the server should be flat, once an export is streamed (above 1 MiB). Peaks at %s: export %s, "+
				"erasure %s.", by, factor(largest.ExportPeak, reference.ExportPeak), factor(largest.ErasePeak, reference.ErasePeak)),
			"Peak: what of the server's memory was resident at most, the program itself included. Each size has a server of its own.",
		},
	}}
}

func timeTable(all []Subject) report.Table {
	t := report.Table{Header: []report.Column{
		{Title: "Rows"}, {Title: "Export ms"}, {Title: "µs per row"}, {Title: "Erasure ms"}, {Title: "µs per row"},
	}}
	for _, s := range all {
		t.Rows = append(t.Rows, []string{
			report.Rate(float64(s.Rows)),
			report.Milliseconds(stats.Median(s.Export)), fmt.Sprintf("%.1f", microseconds(s.perRow(s.Export))),
			report.Milliseconds(stats.Median(s.Erase)), fmt.Sprintf("%.1f", microseconds(s.perRow(s.Erase))),
		})
	}
	return t
}

func memoryTable(all []Subject) report.Table {
	t := report.Table{Header: []report.Column{
		{Title: "Rows"}, {Title: "Export MiB"}, {Title: "Peak MiB after exports"}, {Title: "Peak MiB after erasures"},
	}}
	for _, s := range all {
		t.Rows = append(t.Rows, []string{
			report.Rate(float64(s.Rows)), fmt.Sprintf("%.2f", mebibytes(s.Bytes)),
			known(s.ExportPeak), known(s.ErasePeak),
		})
	}
	return t
}

func line(all []Subject, name string, of func(Subject) float64) report.Line {
	l := report.Line{Name: name}
	for _, s := range all {
		l.Points = append(l.Points, report.Point{X: float64(s.Rows), Y: of(s)})
	}
	return l
}

func factor[N stats.Number](value, reference N) string {
	if reference == 0 {
		return report.Ratio(0)
	}
	return report.Ratio(float64(value) / float64(reference))
}

func known(bytes int64) string {
	if bytes == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", mebibytes(bytes))
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
