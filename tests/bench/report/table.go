// Package report shows results: on a terminal, and as Markdown with charts.
package report

import (
	"strings"
	"unicode/utf8"
)

// Table is what is shown in rows and columns.
type Table struct {
	Header []Column
	Rows   [][]string // each as long as the header
}

// Column heads a column.
type Column struct {
	Title string
	Left  bool // aligned to the left, as texts are; numbers are aligned to the right
}

// Text is the table for a terminal.
func (t Table) Text() string {
	var text strings.Builder
	widths := t.widths()
	line := func(cells []string) {
		var line strings.Builder
		for i, cell := range cells {
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(pad(cell, widths[i], t.Header[i].Left))
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	line(t.titles())
	rule := make([]string, len(widths))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", width)
	}
	line(rule)
	for _, row := range t.Rows {
		line(row)
	}
	return text.String()
}

// Markdown is the table for a page.
func (t Table) Markdown() string {
	var text strings.Builder
	line := func(cells []string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(t.titles())
	rule := make([]string, len(t.Header))
	for i, column := range t.Header {
		if rule[i] = "---:"; column.Left {
			rule[i] = "---"
		}
	}
	line(rule)
	for _, row := range t.Rows {
		escaped := make([]string, len(row))
		for i, cell := range row {
			escaped[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		line(escaped)
	}
	return text.String()
}

func (t Table) titles() []string {
	titles := make([]string, len(t.Header))
	for i, column := range t.Header {
		titles[i] = column.Title
	}
	return titles
}

func (t Table) widths() []int {
	widths := make([]int, len(t.Header))
	for _, row := range append([][]string{t.titles()}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func pad(cell string, width int, left bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if left {
		return cell + space
	}
	return space + cell
}
