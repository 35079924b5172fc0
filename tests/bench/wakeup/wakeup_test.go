package wakeup

import (
	"strings"
	"testing"
	"time"
)

func TestTheTableHasARowForEachWay(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i+1) * time.Millisecond
	}
	section := Section([]Result{{Ways[0], hundred}, {Ways[2], hundred[:1]}}, Config{})
	var rows []string
	for _, row := range section.Table.Rows {
		rows = append(rows, strings.Join(row, "|"))
	}
	want := []string{
		"by the commit itself, in one process|100|50.00|99.00|100.00",
		"by polling|1|1.00|1.00|1.00",
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

func TestOnlyOneWayPolls(t *testing.T) {
	config := Config{Erasures: 300, Polled: 5}
	for i, want := range []int{300, 300, 5} {
		if got := config.erasures(Ways[i]); got != want {
			t.Errorf("%s: %d erasures, want %d", Ways[i].Title, got, want)
		}
	}
	config.Poll = time.Second
	for i, want := range []time.Duration{never, never, time.Second} {
		m := &measurement{Config: config, way: Ways[i]}
		if got := m.config(nil).PollInterval; got != want || m.way.polls && m.way.listens {
			t.Errorf("%s: polls every %v, want %v", m.way.Title, got, want)
		}
	}
}
