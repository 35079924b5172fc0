package report

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// Panel is one of several small bar charts that stand beside each other, each with a scale of its own.
type Panel struct {
	Title  string
	Groups []Group
}

// Group is a bar for each series, with what they say together.
type Group struct {
	Label  string
	Values []float64 // by series; more is better
	Note   string    // beside the label, such as the ratio of the bars
}

// The measures of a bar chart, in pixels.
const (
	panelWidth  = 410
	panelGap    = 40
	margin      = 20
	labelWidth  = 110
	valueWidth  = 64
	barHeight   = 14
	groupHeight = 2*barHeight + 16
	titleHeight = 34
	legend      = 34
)

// colours are legible on white and on black alike.
var colours = []string{"#8a94a3", "#1f9e89"}

const style = `<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57606a }
.title { font-weight: 600; font-size: 14px }
.note { font-weight: 600 }
.axis { stroke: #8a94a3; stroke-opacity: .5 }
@media (prefers-color-scheme: dark) { text { fill: #b1bac4 } }
</style>
`

// Bars draws panels, two in a row, as SVG. There are two series at most.
func Bars(series []string, panels []Panel) string {
	var body strings.Builder
	y := margin
	x := margin
	for i, name := range series {
		fmt.Fprintf(&body, `<rect x="%d" y="%d" width="12" height="12" rx="2" fill="%s"/>`+"\n", x, y, colours[i])
		fmt.Fprintf(&body, `<text x="%d" y="%d">%s</text>`+"\n", x+18, y+11, escape(name))
		x += 40 + 7*len(name)
	}
	y += legend
	for row := range slices.Chunk(panels, 2) {
		height := 0
		for i, panel := range row {
			height = max(height, panel.draw(&body, margin+i*(panelWidth+panelGap), y))
		}
		y += height + margin
	}
	width := 2*margin + 2*panelWidth + panelGap
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		width, y, width, y) + style + body.String() + "</svg>\n"
}

// draw draws the panel and returns its height.
func (p Panel) draw(body *strings.Builder, x, y int) int {
	fmt.Fprintf(body, `<text class="title" x="%d" y="%d">%s</text>`+"\n", x, y+14, escape(p.Title))
	longest := 0.0
	for _, group := range p.Groups {
		longest = max(longest, slices.Max(group.Values))
	}
	left, top := x+labelWidth, y+titleHeight
	for i, group := range p.Groups {
		at := top + i*groupHeight
		fmt.Fprintf(body, `<text x="%d" y="%d">%s</text>`+"\n", x, at+11, escape(group.Label))
		fmt.Fprintf(body, `<text class="note" x="%d" y="%d">%s</text>`+"\n", x, at+barHeight+11, escape(group.Note))
		for j, value := range group.Values {
			length := 0.0
			if longest > 0 {
				length = value / longest * (panelWidth - labelWidth - valueWidth)
			}
			fmt.Fprintf(body, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n",
				left, at+j*barHeight, length, barHeight-2, colours[j])
			fmt.Fprintf(body, `<text x="%.1f" y="%d">%s</text>`+"\n",
				float64(left)+length+6, at+j*barHeight+10, Rate(value))
		}
	}
	height := titleHeight + len(p.Groups)*groupHeight
	fmt.Fprintf(body, `<line class="axis" x1="%d" x2="%[1]d" y1="%d" y2="%d"/>`+"\n", left, top-4, y+height-8)
	return height
}

func escape(text string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // a builder takes everything
	return escaped.String()
}
