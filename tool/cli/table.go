package cli

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
)

// gap is between two columns of a table.
const gap = "  "

// table is a table to print, with short cells: no cell is wrapped. It may have no head.
type table struct {
	head []string
	rows [][]string
}

// table prints a table. A row is a line.
func (p *printer) table(t table) {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, len(gap), ' ', 0)
	_, _ = fmt.Fprint(w, strings.ToUpper(strings.Join(t.head, "\t")))
	for _, row := range t.rows {
		_, _ = fmt.Fprintln(w)
		for _, cell := range row {
			_, _ = fmt.Fprint(w, oneLine(printable(cell))+"\t")
		}
	}
	_ = w.Flush() // a buffer accepts each write
	for i, line := range strings.Split(text.String(), "\n") {
		line = strings.TrimRight(line, " ")
		if i == 0 && line == "" { // without a head
			continue
		}
		if i == 0 {
			p.line(p.paint("head", line))
			continue
		}
		for _, cell := range t.rows[i-1] { // only now, because a tabwriter would count the letters of a colour
			line = strings.Replace(line, gap+cell+gap, gap+p.paint(cell, cell)+gap, 1)
		}
		p.line(line)
	}
}
