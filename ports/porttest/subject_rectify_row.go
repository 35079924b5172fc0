package porttest

import (
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func subjectRectificationOfOneRow(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	for _, c := range []struct{ table, column, row string }{
		{"messages", "body", "1001"},
		{"order_lines", "engraving", domain.CanonicalTuple([]string{"1001", "1"})},
		{"people", "email", domain.CanonicalTuple([]string{"acme", "7"})},
	} {
		step := rectifies(c.table, c.column, "right")
		step.Row = c.row
		table, _ := DataMap().Table(c.table)
		before := s.content(t)
		for _, other := range []customer{others[1], others[4], {"nobody", 7, 900_000}} {
			if rows := s.rectify(t, other, step); rows != 0 {
				t.Errorf("%d rows of %s were rectified that are not the subject's", rows, c.table)
			}
		}
		for _, row := range []string{"999999", " " + c.row, c.row + " ", "0" + c.row, c.row + "\x1f0", "' OR 1=1 --"} {
			wrong := step
			wrong.Row = row
			if rows := s.rectify(t, zoe, wrong); rows != 0 {
				t.Errorf("%d rows of %s were rectified for a row that does not exist", rows, c.table)
			}
		}
		expectUnchanged(t, "without a row that is the subject's", s.content(t), before)
		if rows := s.rectify(t, zoe, step); rows != 1 {
			t.Errorf("%d rows of %s were rectified, want 1", rows, c.table)
		}
		want := before.filter(func(string, Row) bool { return true })
		for _, row := range want.of(zoe)[c.table] {
			if nameOf(table, row) == c.row {
				row[c.column] = "right"
			}
		}
		expectUnchanged(t, "but for one row", s.content(t), want)
	}
}
