package bunstore_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// slowClaims makes claims slow.
type slowClaims struct{ statements }

func (h *slowClaims) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if strings.Contains(event.Query, "jsonb_to_recordset") {
		time.Sleep(200 * time.Millisecond)
	}
	return ctx
}

// If dead rows make claims slow, a claim begins where the last one ended. A claim after a requeue reads all due
// entries.
func TestSlowClaimsBeginWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	b := newBox(t, databases.WithHook(db, &slowClaims{}))
	b.enqueue(t, toErase(t, "abandoned", "1", 0))
	b.settle(t, abandons(b.claim(t, noon, upTo(1)...)[0]))
	b.fill(t, 10_000, domain.OutboxSucceeded)
	execute(t, db, "UPDATE habeas_outbox SET attempts = 1 WHERE status = 'succeeded'", "ANALYZE habeas_outbox")
	for dead := 0; dead < 5000 && t.Context().Err() == nil; { // until the server has counted the dead rows
		must(t, db.NewRaw("SELECT pg_stat_get_dead_tuples('habeas_outbox'::regclass)").Scan(t.Context(), &dead))
	}
	for range 3 {
		b.claim(t, noon, upTo(1)...)
	}
	b.enqueue(t, toErase(t, "committed late", "2", 0))
	if found := b.claim(t, noon, upTo(2)...); len(found) > 0 {
		t.Errorf("claimed from the beginning are %v", ids(found))
	}
	b.requeue(t, "abandoned")
	if found := ids(b.claim(t, noon, upTo(2)...)); !slices.Equal(found, []string{"abandoned", "committed late"}) {
		t.Errorf("after a requeue, %v were claimed", found)
	}
}
