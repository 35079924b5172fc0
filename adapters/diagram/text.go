package diagram

import (
	"fmt"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// light has the background and text colours of the box headers.
var light = map[fate][2]string{
	deleted:    {"#c0392b", "#ffffff"},
	anonymized: {"#b9770e", "#ffffff"},
	retained:   {"#1f618d", "#ffffff"},
	untouched:  {"#7f8c8d", "#ffffff"},
	external:   {"#6c3483", "#ffffff"},
}

// DOT returns the picture as a graph for Graphviz.
func DOT(m domain.DataMap, plan domain.Plan) string {
	p := pictureOf(m, plan)
	var b strings.Builder
	b.WriteString("digraph datamap {\n  rankdir=RL\n  node [shape=record, style=filled, fontname=\"Helvetica\"]\n")
	for i, box := range p.boxes {
		lines := []string{escapeRecord(box.title), escapeRecord(box.says)}
		for _, cell := range box.cells {
			lines = append(lines, escapeRecord(cell.name+" ("+cell.says+")")+`\l`)
		}
		fmt.Fprintf(&b, "  n%d [label=\"{%s}\", fillcolor=\"%s\", fontcolor=\"%s\"]\n",
			i, strings.Join(lines, "|"), light[box.fate][0], light[box.fate][1])
	}
	for _, arrow := range p.arrows {
		style := ""
		if arrow.dashed {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  n%d -> n%d [label=\"%s\"%s]\n", arrow.from, arrow.to, escapeRecord(arrow.label), style)
	}
	b.WriteString("}\n")
	return b.String()
}

// escapeRecord escapes a text for the label of a DOT record.
func escapeRecord(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune(`\"{}|<>`, r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Mermaid returns the picture as a Mermaid flowchart, which code hosts draw in Markdown.
func Mermaid(m domain.DataMap, plan domain.Plan) string {
	p := pictureOf(m, plan)
	var b strings.Builder
	b.WriteString("flowchart RL\n")
	for i, box := range p.boxes {
		lines := []string{"<b>" + escapeHTML(box.title) + "</b>", "<i>" + escapeHTML(box.says) + "</i>"}
		for _, cell := range box.cells {
			lines = append(lines, escapeHTML(cell.name+": "+cell.says))
		}
		open, closed := `["`, `"]`
		if box.fate == external {
			open, closed = `(["`, `"])`
		}
		fmt.Fprintf(&b, "  n%d%s%s%s:::%s\n", i, open, strings.Join(lines, "<br/>"), closed, box.fate)
	}
	for _, arrow := range p.arrows {
		line := "-->"
		if arrow.dashed {
			line = "-.->"
		}
		if arrow.label != "" {
			line += `|"` + escapeHTML(arrow.label) + `"|`
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", arrow.from, line, arrow.to)
	}
	for _, fate := range fates {
		fmt.Fprintf(&b, "  classDef %s fill:%s,color:%s\n", fate, light[fate][0], light[fate][1])
	}
	return b.String()
}

// escapeHTML escapes a text for a quoted label. In Mermaid, an entity starts with # instead of &.
func escapeHTML(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune("\"'`<>&#;|[]{}()\\", r):
			fmt.Fprintf(&b, "#%d;", r)
		case r < ' ':
			b.WriteRune(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
