package diagram

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// light has the background colour and the text colour of the head of a box, by effect.
var light = map[effect][2]string{
	deleted:    {"#c0392b", "#ffffff"},
	anonymized: {"#8f5b00", "#ffffff"},
	retained:   {"#1f618d", "#ffffff"},
	nulled:     {"#00695c", "#ffffff"},
	untouched:  {"#5f6a6b", "#ffffff"},
	leftOut:    {"#d5d8dc", "#24292f"},
	external:   {"#6c3483", "#ffffff"},
}

// DOT returns the diagram in the language of Graphviz. The parameter only has the same meaning as for SVG.
func DOT(m datamap.DataMap, plan datamap.Plan, only ...string) string {
	p := pictureOf(m, plan, only)
	var b strings.Builder
	b.WriteString("digraph datamap {\n  rankdir=RL\n  node [shape=record, style=filled, fontname=\"Helvetica\"]\n")
	draw := func(i int) {
		box := p.boxes[i]
		lines := []string{escapeRecord(box.title), escapeRecord(box.says)}
		for _, cell := range box.cells {
			lines = append(lines, escapeRecord(cell.text(" (", ")"))+`\l`)
		}
		fmt.Fprintf(&b, "  n%d [label=\"{%s}\", fillcolor=\"%s\", fontcolor=\"%s\"]\n",
			i, strings.Join(lines, "|"), light[box.effect][0], light[box.effect][1])
	}
	p.eachGroup(draw, func(root int) { fmt.Fprintf(&b, "  subgraph cluster_n%d {\n", root) },
		func() { b.WriteString("  }\n") })
	for _, arrow := range p.arrows {
		fmt.Fprintf(&b, "  n%d -> n%d [label=\"%s\"]\n", arrow.from, arrow.to, escapeRecord(arrow.label))
	}
	b.WriteString("}\n")
	return b.String()
}

var specialInRecord = regexp.MustCompile(`[\\"{}|<>]`)

// escapeRecord escapes a text for a label of a DOT node with the shape record.
func escapeRecord(text string) string { return specialInRecord.ReplaceAllString(text, `\$0`) }

// Mermaid returns the diagram as a Mermaid flowchart. Many code hosts can draw a Mermaid flowchart in a Markdown file.
// The parameter only has the same meaning as for SVG.
func Mermaid(m datamap.DataMap, plan datamap.Plan, only ...string) string {
	p := pictureOf(m, plan, only)
	var b strings.Builder
	b.WriteString("flowchart RL\n")
	draw := func(i int) {
		box := p.boxes[i]
		lines := []string{"<b>" + escapeHTML(box.title) + "</b>", "<i>" + escapeHTML(box.says) + "</i>"}
		for _, cell := range box.cells {
			lines = append(lines, escapeHTML(cell.text(": ", "")))
		}
		open, closed := `["`, `"]`
		if box.effect == external {
			open, closed = `(["`, `"])`
		}
		fmt.Fprintf(&b, "  n%d%s%s%s:::%s\n", i, open, strings.Join(lines, "<br/>"), closed, box.effect)
	}
	p.eachGroup(draw, func(root int) {
		fmt.Fprintf(&b, "  subgraph g%d[\" \"]\n", root)
	}, func() { b.WriteString("  end\n") })
	for _, arrow := range p.arrows {
		line := "-->"
		if arrow.label != "" {
			line += `|"` + escapeHTML(arrow.label) + `"|`
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", arrow.from, line, arrow.to)
	}
	for _, effect := range p.used() {
		fmt.Fprintf(&b, "  classDef %s fill:%s,color:%s\n", effect, light[effect][0], light[effect][1])
	}
	return b.String()
}

// text returns the cell as a text, with separators around the second part.
func (c cell) text(before, after string) string {
	if c.name == "" || c.says == "" {
		return c.name + c.says
	}
	return c.name + before + c.says + after
}

// used returns the effects of the boxes, in the order of the legend.
func (p picture) used() []effect {
	return slices.DeleteFunc(slices.Clone(effects), func(e effect) bool {
		return !slices.ContainsFunc(p.boxes, func(b box) bool { return b.effect == e })
	})
}

// eachGroup calls draw for each box. It calls begin before, and end after, the boxes of a group of several tables.
func (p picture) eachGroup(draw func(box int), begin func(root int), end func()) {
	var drawAll func(i int)
	drawAll = func(i int) {
		draw(i)
		for _, child := range p.children(i) {
			drawAll(child)
		}
	}
	for i, b := range p.boxes {
		switch {
		case b.parent >= 0: // drawn with its group
		case len(p.children(i)) == 0:
			draw(i)
		default:
			begin(i)
			drawAll(i)
			end()
		}
	}
}

var specialInHTML = regexp.MustCompile("[\"'`<>&#;|\\[\\]{}()\\\\]")

// escapeHTML escapes a text for a quoted label. In Mermaid, an HTML entity begins with # instead of &.
func escapeHTML(text string) string {
	return specialInHTML.ReplaceAllStringFunc(text, func(char string) string { return fmt.Sprintf("#%d;", char[0]) })
}
