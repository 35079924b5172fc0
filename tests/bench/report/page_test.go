package report

import (
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
