package report

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func page() Page {
	return Page{
		Title:   "Benchmarks",
		Intro:   []string{"What it costs."},
		Machine: []string{"2 cores", "PostgreSQL 15"},
		Sections: []Section{
			{Title: "Endpoints", Table: table, Chart: Chart{"a.svg", "Bars", "<svg/>"}, Notes: []string{"Note.", "Another."}},
			{Title: "Growth", Intro: []string{"Flat."}, Table: table},
		},
	}
}

func TestAPageIsWrittenWithItsCharts(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "docs", "benchmarks")
	if err := page().Write(directory); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(directory, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "# Benchmarks\n\nWhat it costs.\n\n- 2 cores\n- PostgreSQL 15\n" +
		"\n## Endpoints\n\n![Bars](a.svg)\n\n" + table.Markdown() + "\n- Note.\n- Another.\n" +
		"\n## Growth\n\nFlat.\n\n" + table.Markdown()
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if chart, err := os.ReadFile(filepath.Join(directory, "a.svg")); err != nil || string(chart) != "<svg/>" {
		t.Errorf("chart = %s, %v", chart, err)
	}
	files, err := os.ReadDir(directory)
	if err != nil || len(files) != 2 {
		t.Errorf("files = %v, %v; want the page and one chart", files, err)
	}
}

func TestAPageSaysOnATerminalWhatItSaysInMarkdown(t *testing.T) {
	text := page().Text()
	for _, want := range []string{"2 cores\n", "\nEndpoints\n\n", table.Text(), "  Note.\n", "\nGrowth\n\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestBarsAreInProportion(t *testing.T) {
	svg := Bars([]string{"floor", "habeas"}, []Panel{
		{Title: "GET <x> & y", Groups: []Group{{Label: "16", Values: []float64{1000, 500}, Note: "0.50×"}}},
		{Title: "nothing", Groups: []Group{{Label: "1", Values: []float64{0, 0}}}},
		{Title: "third", Groups: []Group{{Label: "1", Values: []float64{3, 3}}}},
	})
	var lengths, texts []string
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the chart is no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.CharData:
			texts = append(texts, string(token))
		case xml.StartElement:
			for _, attribute := range token.Attr {
				if token.Name.Local == "rect" && attribute.Name.Local == "width" && attribute.Value != "12" {
					lengths = append(lengths, attribute.Value)
				}
			}
		}
	}
	if got, want := strings.Join(lengths, " "), "236.0 118.0 0.0 0.0 236.0 236.0"; got != want {
		t.Errorf("lengths = %s, want %s", got, want)
	}
	for _, want := range []string{"GET <x> & y", "0.50×", "1,000", "habeas"} {
		if !strings.Contains(strings.Join(texts, "\n"), want) {
			t.Errorf("%q is not in the chart", want)
		}
	}
}
