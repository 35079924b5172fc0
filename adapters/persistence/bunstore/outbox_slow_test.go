package bunstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// slowClaims records the statements, and makes claims slow.
type slowClaims struct{ statements }

func (h *slowClaims) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if strings.Contains(event.Query, "jsonb_to_recordset") {
		time.Sleep(30 * time.Millisecond) // longer than a round trip to a busy server
	}
	return ctx
}

// Slow claims read only recent entries if dead rows make them slow, and otherwise all due entries. A claim after a
// requeue finds the requeued entries nevertheless.
func TestSlowClaimsReadRecentEntriesIfThereAreDeadRows(t *testing.T) {
	t.Parallel()
	const slow = 10 // the number of slow claims after which the store counts the dead rows
	hook := &slowClaims{}
	db := databases.PostgreSQL(t)
	b := newBox(t, databases.WithHook(db, hook))
	b.enqueue(t, toErase(t, "requeued", "1", 0))
	b.settle(t, abandons(b.claim(t, noon, upTo(1)...)[0]))
	counts := func() (n int) {
		for _, text := range hook.during(t, func() {
			for range slow {
				b.claim(t, noon, upTo(1)...)
			}
		}) {
			if strings.Contains(text, "pg_stat_get_dead_tuples") {
				n++
			}
		}
		return n
	}
	if n := counts(); n != 1 {
		t.Errorf("%d slow claims counted the dead rows %d times", slow, n)
	}
	if claim := hook.during(t, func() { b.claim(t, noon, upTo(1)...) }); len(claim) != 3 {
		t.Errorf("a claim without dead rows took %q", claim)
	}
	b.fill(t, 10_000, domain.OutboxSucceeded)
	execute(t, db, "UPDATE habeas_outbox SET attempts = 1 WHERE status = 'succeeded'", "ANALYZE habeas_outbox")
	for dead := 0; dead < 5000 && t.Context().Err() == nil; { // until the server has counted the dead rows
		must(t, db.NewRaw("SELECT pg_stat_get_dead_tuples('habeas_outbox'::regclass)").Scan(t.Context(), &dead))
	}
	if n := counts(); n != 1 {
		t.Errorf("%d slow claims counted the dead rows %d times", slow, n)
	}
	b.requeue(t, "requeued")
	var found []domain.OutboxEntry
	claim := hook.during(t, func() { found = b.claim(t, noon, upTo(1)...) })
	if len(found) != 1 || len(claim) < 4 {
		t.Errorf("after a requeue, %v were claimed by %q", ids(found), claim)
	}
}
