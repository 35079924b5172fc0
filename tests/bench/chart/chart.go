// Package chart draws results with gonum's plot, as SVG.
package chart

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/habeas-data/habeas/tests/bench/results"
)

// Chart selects the results to show. For example, if the field Series is "side", the chart has one series for each
// value of the key "side". Likewise, it has one panel for each value of the key in the field Panel, and the horizontal
// axis shows the values of the key in the field X.
type Chart struct {
	Panel, Series, X string // keys of the results; Panel may be ""
	Unit             string
	Label            string  // label of the unit
	Scale            float64 // factor for the values; 0 means no scaling
	Linear           bool    // if true, the axis is linear and a series may have fewer values
}

var colours = []color.Color{
	color.RGBA{0x8a, 0x94, 0xa3, 0xff},
	color.RGBA{0x1f, 0x9e, 0x89, 0xff},
	color.RGBA{0xb8, 0x86, 0x0b, 0xff},
	color.RGBA{0x3b, 0x5b, 0xa5, 0xff},
}

const (
	width, height = 14 * vg.Centimeter, 8 * vg.Centimeter // size of a panel
	barWidth      = 0.6 * vg.Centimeter
)

// Bars writes a bar chart. The height of each bar is the median of the results with the same panel, series and X.
func (c Chart) Bars(w io.Writer, all results.Set) error {
	return c.draw(w, all, func(p *plot.Plot, panel results.Set) error {
		labels, names := panel.Keys(c.X), panel.Keys(c.Series)
		if len(names) == 0 {
			names = []string{""}
		}
		p.NominalX(labels...)
		p.Legend.Left = true // the bars on the left are low
		for i, name := range names {
			bars, err := plotter.NewBarChart(plotter.Values(c.medians(panel, name, labels)), barWidth)
			if err != nil {
				return err
			}
			bars.Color, bars.LineStyle.Width = colours[i%len(colours)], 0
			bars.Offset = (vg.Length(i) - vg.Length(len(names)-1)/2) * barWidth
			p.Add(bars)
			if len(names) > 1 {
				p.Legend.Add(name, bars)
			}
		}
		return nil
	})
}

// Lines writes a chart with one line for each series. The horizontal axis is linear if c.Linear is true, and otherwise
// logarithmic.
func (c Chart) Lines(w io.Writer, all results.Set) error {
	return c.draw(w, all, func(p *plot.Plot, panel results.Set) error {
		labels := panel.Keys(c.X)
		p.X.Label.Text = c.X
		if !c.Linear {
			p.X.Scale = plot.LogScale{}
		}
		ticks := make(plot.ConstantTicks, len(labels))
		for i, label := range labels {
			x, err := strconv.ParseFloat(label, 64)
			if err != nil {
				return err
			}
			ticks[i] = plot.Tick{Value: x, Label: label}
		}
		if !c.Linear {
			p.X.Tick.Marker = ticks
		}
		for i, name := range panel.Keys(c.Series) {
			var points plotter.XYs
			for j, y := range c.medians(panel, name, labels) {
				if c.Linear && len(panel.With(c.Series, name).With(c.X, labels[j])) == 0 {
					continue
				}
				points = append(points, plotter.XY{X: ticks[j].Value, Y: y})
			}
			line, marks, err := plotter.NewLinePoints(points)
			if err != nil {
				return err
			}
			line.Color, marks.Color, line.Width = colours[i%len(colours)], colours[i%len(colours)], vg.Points(1.5)
			marks.Shape = draw.CircleGlyph{}
			p.Add(line, marks)
			p.Legend.Add(name, line)
		}
		return nil
	})
}

// medians returns the median of the results of a series for each label of the horizontal axis.
func (c Chart) medians(panel results.Set, name string, labels []string) []float64 {
	series, medians := panel.With(c.Series, name), make([]float64, len(labels))
	for i, label := range labels {
		medians[i] = series.With(c.X, label).Median(c.Unit)
		if c.Scale != 0 {
			medians[i] *= c.Scale
		}
	}
	return medians
}

// draw draws two panels per row, each with an axis that begins at zero.
func (c Chart) draw(w io.Writer, all results.Set, fill func(*plot.Plot, results.Set) error) error {
	var plots []*plot.Plot
	titles := all.Keys(c.Panel)
	if c.Panel == "" {
		titles = []string{""}
	}
	for _, title := range titles {
		panel := all
		if title != "" {
			panel = all.With(c.Panel, title)
		}
		p := plot.New()
		p.Title.Text, p.Y.Label.Text = title, c.Label
		p.Legend.Top, p.Title.Padding = true, vg.Points(6)
		if err := fill(p, panel); err != nil {
			return err
		}
		p.Y.Min, p.Y.Max = 0, math.Max(p.Y.Max, 1e-9)*1.25 // leaves room for the legend
		plots = append(plots, p)
	}
	columns := min(len(plots), 2)
	for len(plots)%max(columns, 1) != 0 {
		plots = append(plots, nil)
	}
	rows := slices.Collect(slices.Chunk(plots, max(columns, 1)))
	tiles := draw.Tiles{
		Rows: len(rows), Cols: columns, PadX: vg.Centimeter, PadY: vg.Centimeter,
		PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Centimeter,
	}
	canvas := vgsvg.New(width*vg.Length(columns), height*vg.Length(len(rows)))
	if len(rows) > 0 {
		for i, row := range plot.Align(rows, tiles, draw.New(canvas)) {
			for j, tile := range row {
				if rows[i][j] != nil {
					rows[i][j].Draw(tile)
				}
			}
		}
	}
	_, err := canvas.WriteTo(w)
	return err
}
