package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/results"
)

func TestChartsShowPanelsSeriesAndLabels(t *testing.T) {
	var all results.Set
	for _, operation := range []string{"export", "erase", "post"} {
		for _, side := range []string{"floor", "habeas"} {
			for _, rows := range []int{10_000, 100_000} {
				all.Add("Growth", 1, []benchfmt.Value{results.Value(0.002, "sec/op")}, "op", operation, "side", side, "rows", rows)
			}
		}
	}
	c := Chart{Panel: "op", Series: "side", X: "rows", Unit: "sec/op", Label: "ms", Scale: 1e3}
	for name, draw := range map[string]func(io.Writer, results.Set) error{"bars": c.Bars, "lines": c.Lines} {
		var svg strings.Builder
		if err := draw(&svg, all); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for decoder := xml.NewDecoder(strings.NewReader(svg.String())); ; {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: the chart is no XML: %v", name, err)
			}
			if text, ok := token.(xml.CharData); ok {
				texts = append(texts, strings.TrimSpace(string(text)))
			}
		}
		written := strings.Join(texts, "|")
		for _, want := range []string{"export", "erase", "post", "floor", "habeas", "10000", "100000", "ms"} {
			if !strings.Contains("|"+written+"|", "|"+want+"|") {
				t.Errorf("%s: %q is missing in %s", name, want, written)
			}
		}
		if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
			t.Errorf("%s: %s", name, &svg)
		}
	}
}
