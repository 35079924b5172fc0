package report

import "testing"

var table = Table{
	Header: []Column{{Title: "Endpoint", Left: true}, {Title: "p99 µs"}},
	Rows:   [][]string{{"GET /a|b", "7"}, {"DELETE /", "12,345"}, {"–", ""}},
}

func TestATableIsAlignedOnATerminal(t *testing.T) {
	const want = "" +
		"Endpoint  p99 µs\n" +
		"--------  ------\n" +
		"GET /a|b       7\n" +
		"DELETE /  12,345\n" +
		"–\n"
	if got := table.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestATableIsMarkdown(t *testing.T) {
	const want = "" +
		"| Endpoint | p99 µs |\n" +
		"| --- | ---: |\n" +
		"| GET /a\\|b | 7 |\n" +
		"| DELETE / | 12,345 |\n" +
		"| – |  |\n"
	if got := table.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
