package report

import (
	"strings"
	"testing"
)

func TestLinesRunOverALogarithmicAxisFromZero(t *testing.T) {
	svg := Lines([]Plot{{Title: "ms <by> rows", Lines: []Line{
		{Name: "flat & even", Points: []Point{{10_000, 4}, {100_000, 4}, {1_000_000, 4}}},
		{Name: "grows", Points: []Point{{10_000, 0}, {1_000_000, 8}}},
	}}})
	lines, texts := drawn(t, svg, "polyline", "points")
	want := []string{"70.0,170.0 237.5,170.0 405.0,170.0", "70.0,250.0 405.0,90.0"}
	if strings.Join(lines, "|") != strings.Join(want, "|") {
		t.Errorf("lines = %q, want %q", lines, want)
	}
	for _, text := range []string{"ms <by> rows", "flat & even", "grows", "10,000", "100,000", "1,000,000", "0", "4", "8"} {
		if !strings.Contains("\n"+strings.Join(texts, "\n")+"\n", "\n"+text+"\n") {
			t.Errorf("%q is not in the chart", text)
		}
	}
}

func TestPlotsStandBesideEachOther(t *testing.T) {
	plot := Plot{Lines: []Line{{Points: []Point{{1, 1}}}}}
	for n, want := range map[int]string{1: "450 x 278", 2: "900 x 278", 3: "900 x 536"} {
		plots := make([]Plot, n)
		for i := range plots {
			plots[i] = plot
		}
		svg := Lines(plots)
		width, _ := drawn(t, svg, "svg", "width")
		height, _ := drawn(t, svg, "svg", "height")
		if got := width[0] + " x " + height[0]; got != want {
			t.Errorf("%d plots: %s, want %s", n, got, want)
		}
		if points, _ := drawn(t, svg, "circle", "cx"); len(points) != n {
			t.Errorf("%d plots have %d points", n, len(points))
		}
	}
}

func TestPointsThatSayNothingAreDrawnAllTheSame(t *testing.T) {
	for _, plot := range []Plot{
		{},
		{Lines: []Line{{Name: "none"}}},
		{Lines: []Line{{Name: "one of nothing", Points: []Point{{10, 0}}}}},
	} {
		if svg := Lines([]Plot{plot}); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%+v: %s", plot, svg)
		}
	}
}

func TestTheEndOfAnAxisIsEasyToRead(t *testing.T) {
	for value, want := range map[float64]float64{0: 1, 0.07: 0.08, 1: 1, 1.2: 1.5, 17: 20, 240: 300, 8.1: 10, 999: 1000} {
		if got := roundUp(value); got < want*(1-1e-9) || got > want*(1+1e-9) {
			t.Errorf("roundUp(%v) = %v, want %v", value, got, want)
		}
	}
}
