package report

import (
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
	labelWidth  = 110
	valueWidth  = 64
	barHeight   = 14
	groupHeight = 2*barHeight + 16
	legend      = 34
)

// Bars draws panels, two in a row, as SVG. There are two series at most.
func Bars(series []string, panels []Panel) string {
	var body strings.Builder
	y := margin
	x := margin
	for i, name := range series {
		x = key(&body, x, y, i, name)
	}
	y += legend
	for row := range slices.Chunk(panels, 2) {
		height := 0
		for i, panel := range row {
			height = max(height, panel.draw(&body, margin+i*(panelWidth+panelGap), y))
		}
		y += height + margin
	}
	return svg(min(len(panels), 2), y, body.String())
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
