package report

import (
	"slices"
	"strings"
	"testing"
)

func TestBarsAreInProportion(t *testing.T) {
	svg := Bars([]string{"floor", "habeas"}, []Panel{
		{Title: "GET <x> & y", Groups: []Group{{Label: "16", Values: []float64{1000, 500}, Note: "0.50×"}}},
		{Title: "nothing", Groups: []Group{{Label: "1", Values: []float64{0, 0}}}},
		{Title: "third", Groups: []Group{{Label: "1", Values: []float64{3, 3}}}},
	})
	widths, texts := drawn(t, svg, "rect", "width")
	lengths := slices.DeleteFunc(widths, func(width string) bool { return width == "12" }) // those of the key
	if got, want := strings.Join(lengths, " "), "236.0 118.0 0.0 0.0 236.0 236.0"; got != want {
		t.Errorf("lengths = %s, want %s", got, want)
	}
	for _, want := range []string{"GET <x> & y", "0.50×", "1,000", "habeas"} {
		if !strings.Contains(strings.Join(texts, "\n"), want) {
			t.Errorf("%q is not in the chart", want)
		}
	}
}
