package diagram

import (
	"fmt"
	"html"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

const style = `
.table, .legend { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.title { font-weight: 600; font-size: 13px; }
.box { fill: #ffffff; stroke: #d0d4d8; }
.cell { fill: #24292f; }
.says { fill: #6a737d; }
.leads { fill: #0550ae; font-weight: 600; }
.arrow { fill: none; stroke: #8a939b; stroke-width: 1.4; }
.label { fill: #57606a; font: 11px system-ui, sans-serif; }
.page { fill: #f7f8fa; }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117; } .box { fill: #161b22; stroke: #30363d; } .cell { fill: #e6edf3; }
  .says, .label { fill: #9aa4ae; } .arrow { stroke: #6e7781; } .leads { fill: #79c0ff; }
}
@page { size: A4 landscape; margin: 8mm; }
@media print { svg { width: 100vw; height: 100vh; } }
`

// SVG returns the diagram as an SVG document. The document has colours for light and dark backgrounds. It contains no
// script and loads no other files. If names of tables are given, the diagram has only these tables, the tables on their
// paths, and the tables whose paths lead through them.
func SVG(m datamap.DataMap, plan datamap.Plan, only ...string) string {
	p := pictureOf(m, plan, only)
	boxes, width, height := p.layout()
	width = max(width, p.legendWidth())
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" `+
		`role="img" aria-label="The data map">`+"\n<style>%s</style>\n", width, height, width, height, style)
	b.WriteString(`<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" ` +
		`orient="auto"><path d="M0 0 8 4 0 8z" fill="#8a939b"/></marker></defs>` + "\n")
	b.WriteString(`<rect class="page" width="100%" height="100%"/>` + "\n")
	p.drawLegend(&b)
	for _, a := range p.arrows {
		drawArrow(&b, boxes[a.from], boxes[a.to], a)
	}
	for _, box := range boxes {
		drawBox(&b, box)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p picture) legendWidth() float64 {
	width := 2 * margin
	for _, effect := range p.used() {
		width += 42 + letter*float64(len(effect.words()))
	}
	return width
}

func (p picture) drawLegend(b *strings.Builder) {
	x := margin
	for _, effect := range p.used() {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="12" height="12" rx="3" fill="%s"/>`, x, margin-6, light[effect][0])
		fmt.Fprintf(b, `<text class="legend cell" x="%.1f" y="%.1f">%s</text>`+"\n", x+18, margin+4, effect.words())
		x += 18 + letter*float64(len(effect.words())) + 24
	}
}

func drawBox(b *strings.Builder, box placed) {
	colours := light[box.effect]
	fmt.Fprintf(b, `<g class="table" transform="translate(%.1f %.1f)">`, box.x, box.y)
	fmt.Fprintf(b, `<rect class="box" width="%.1f" height="%.1f" rx="7"/>`, box.width, box.height)
	fmt.Fprintf(b, `<path d="M0 7a7 7 0 0 1 7-7h%.1fa7 7 0 0 1 7 7v%.1fh-%.1fz" fill="%s"/>`,
		box.width-14, header-9, box.width, colours[0])
	fmt.Fprintf(b, `<text class="title" x="%.1f" y="16" fill="%s">%s</text>`,
		padding, colours[1], html.EscapeString(box.title))
	fmt.Fprintf(b, `<text x="%.1f" y="31" fill="%s">%s</text>`+"\n",
		padding, colours[1], html.EscapeString(box.says))
	for i, cell := range box.cells {
		y := header + lineHeight*float64(i) + 14
		fmt.Fprintf(b, `<text class="cell" x="%.1f" y="%.1f">%s</text>`, padding, y, html.EscapeString(cell.name))
		class := "says"
		if cell.leads {
			class = "leads"
		}
		fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			class, box.width-padding, y, html.EscapeString(cell.says))
	}
	b.WriteString("</g>\n")
}

// drawArrow draws an arrow from a table to the table that it references.
func drawArrow(b *strings.Builder, from, to placed, a arrow) {
	points := route(from, to)
	fmt.Fprintf(b, `<path class="arrow" d="M%.1f %.1fH%.1fV%.1fH%.1f" marker-end="url(#head)"/>`+"\n",
		points[0].x, points[0].y, points[1].x, points[2].y, points[3].x)
	if a.label != "" {
		fmt.Fprintf(b, `<text class="label" x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			from.x-6, points[0].y-5, html.EscapeString(a.label))
	}
}
