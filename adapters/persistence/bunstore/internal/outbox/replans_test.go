package outbox

import (
	"testing"
	"time"
)

func TestASlowStatementIsPlannedAgain(t *testing.T) {
	var r replans
	now := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		after, took time.Duration
		want        string
	}{
		{0, slowStatement - 1, ""},
		{time.Second, slowStatement, " /* 1 */"},
		{firstReplan / 2, time.Second, " /* 1 */"},
		{firstReplan, time.Second, " /* 2 */"},
		{firstReplan, time.Second, " /* 2 */"},
		{firstReplan, time.Second, " /* 3 */"},
		{time.Hour, time.Millisecond, " /* 3 */"},
	} {
		now = now.Add(step.after)
		if r.Took(r.Mark(), now.Add(-step.took), now); r.Mark() != step.want {
			t.Errorf("step %d: %q, want %q", i, r.Mark(), step.want)
		}
	}
	before := r.Mark()
	now = now.Add(100 * time.Hour)
	if r.Took(" /* 1 */", now.Add(-time.Second), now); r.Mark() != before {
		t.Error("a statement of before says nothing about the plan of now")
	}
}
