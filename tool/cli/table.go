package cli

import (
	"strings"
	"unicode/utf8"
)

const (
	// minColumnWidth is the minimum width of a column that is made narrower, in characters.
	minColumnWidth = 8
	gap            = "  "
)

// table is a table to print. A cell may have several lines.
type table struct {
	head []string
	rows [][]string
}

// table prints a table that is at most as wide as the output. If the table would be wider, the text in the widest
// columns is wrapped between words. A table with longer words is wider. Numbers are aligned right.
func (p *printer) table(t table) {
	all := [][]string{make([]string, len(t.head))}
	for i, head := range t.head {
		all[0][i] = strings.ToUpper(head)
	}
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		all = append(all, cells)
	}
	widths := fit(all, p.width)
	for i, row := range all {
		p.row(row, widths, i == 0)
	}
}

// row writes a row, line by line.
func (p *printer) row(row []string, widths []int, head bool) {
	cells, height := make([][]string, len(row)), 1
	for i, cell := range row {
		cells[i] = wrap(cell, widths[i])
		height = max(height, len(cells[i]))
	}
	for n := range height {
		var line strings.Builder
		for i, lines := range cells {
			text := ""
			if n < len(lines) {
				text = lines[n]
			}
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text)))
			if isNumber(row[i]) {
				line.WriteString(pad)
				pad = ""
			}
			word := text
			if head {
				word = "head"
			}
			line.WriteString(p.paint(word, text) + pad + gap)
		}
		p.line(strings.TrimRight(line.String(), " "))
	}
}

func isNumber(cell string) bool { return cell != "" && strings.Trim(cell, "0123456789") == "" }

// fit returns the widths of the columns. No column is narrower than its longest word.
func fit(rows [][]string, width int) []int {
	widths, words := make([]int, len(rows[0])), make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			for word := range strings.FieldsSeq(cell) {
				words[i] = max(words[i], utf8.RuneCountInString(word))
			}
			for line := range strings.SplitSeq(cell, "\n") {
				widths[i] = max(widths[i], utf8.RuneCountInString(line))
			}
		}
	}
	for sum(widths)+len(gap)*(len(widths)-1) > width {
		widest := -1
		for i, w := range widths {
			if w > max(words[i], minColumnWidth) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

// wrap breaks a text into lines of at most width characters. It breaks the text between words. A word that is longer
// than a line is a line of its own, because a person may search for it.
func wrap(text string, width int) (lines []string) {
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			switch {
			case line == "":
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
				line += " " + word
			default:
				lines, line = append(lines, line), word
			}
		}
		lines = append(lines, line)
	}
	return lines
}
