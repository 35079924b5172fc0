package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Plot is one of several small line charts that stand beside each other: numbers above zero on a logarithmic axis, and what
// was measured for them on an axis of its own that begins at zero, so that what is flat looks flat.
type Plot struct {
	Title string
	Lines []Line
}

// Line is a series of points, in order of X. There are four lines at most in a plot.
type Line struct {
	Name   string
	Points []Point
}

// Point is what was measured for a number.
type Point struct{ X, Y float64 }

// The measures of a line chart, in pixels.
const (
	plotHeight = 160
	keyHeight  = 18
	axisWidth  = 50
	axisHeight = 26
)

// Lines draws plots, two in a row, as SVG.
func Lines(plots []Plot) string {
	var body strings.Builder
	y := margin
	for row := range slices.Chunk(plots, 2) {
		keys := 0
		for _, plot := range row {
			keys = max(keys, keyHeight*len(plot.Lines))
		}
		for i, plot := range row {
			plot.draw(&body, margin+i*(panelWidth+panelGap), y, keys)
		}
		y += titleHeight + keys + plotHeight + axisHeight + margin
	}
	return svg(min(len(plots), 2), y, body.String())
}

// draw leaves room for the keys.
func (p Plot) draw(body *strings.Builder, x, y, keys int) {
	fmt.Fprintf(body, `<text class="title" x="%d" y="%d">%s</text>`+"\n", x, y+14, escape(p.Title))
	for i, line := range p.Lines {
		key(body, x, y+titleHeight-8+i*keyHeight, i, line.Name)
	}
	left, right, top := x+axisWidth, x+panelWidth-axisWidth/2, y+titleHeight+keys
	bottom := top + plotHeight
	first, last, highest := p.ends()
	across := func(value float64) float64 {
		if first == last {
			return float64(left+right) / 2
		}
		return float64(left) + math.Log(value/first)/math.Log(last/first)*float64(right-left)
	}
	up := func(value float64) float64 { return float64(bottom) - value/highest*plotHeight }

	const marks = 2
	for i := range marks + 1 {
		value := highest * float64(i) / marks
		fmt.Fprintf(body, `<line class="axis" x1="%d" x2="%d" y1="%.1f" y2="%.1[3]f"/>`+"\n", left, right, up(value))
		fmt.Fprintf(body, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left-8, up(value)+4,
			strconv.FormatFloat(value, 'g', 4, 64))
	}
	for _, value := range p.numbers() {
		fmt.Fprintf(body, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", across(value), bottom+18, Rate(value))
	}
	for i, line := range p.Lines {
		var points []string
		for _, point := range line.Points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", across(point.X), up(point.Y)))
			fmt.Fprintf(body, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", across(point.X), up(point.Y), colours[i])
		}
		fmt.Fprintf(body, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n",
			strings.Join(points, " "), colours[i])
	}
}

// numbers are those for which something was measured, in order.
func (p Plot) numbers() []float64 {
	var numbers []float64
	for _, line := range p.Lines {
		for _, point := range line.Points {
			numbers = append(numbers, point.X)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// ends are the smallest and the largest number, and the upper end of the other axis.
func (p Plot) ends() (first, last, highest float64) {
	if numbers := p.numbers(); len(numbers) > 0 {
		first, last = numbers[0], numbers[len(numbers)-1]
	}
	for _, line := range p.Lines {
		for _, point := range line.Points {
			highest = max(highest, point.Y)
		}
	}
	return first, last, roundUp(highest)
}

// roundUp returns the next number above that is easy to read, as is its half.
func roundUp(value float64) float64 {
	if value <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(value)))
	for _, digits := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8} {
		if value <= digits*unit {
			return digits * unit
		}
	}
	return 10 * unit
}
