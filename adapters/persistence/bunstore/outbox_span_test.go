package bunstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// A claim that asks for outbox entries due between two instants must return all of these entries, and must not read
// other index entries. This matters while a long transaction runs, because the indexes then still contain settled rows.
func TestAClaimReadsNothingOutsideItsBounds(t *testing.T) {
	hook := &statements{}
	db := databases.PostgreSQL(t)
	b := newBox(t, databases.WithHook(db, hook))
	ctx := context.Background()
	_, err := db.NewRaw(`
		INSERT INTO habeas_outbox
			(entry_id, subject_id, resolver, operation, status, attempts, enqueued_at, next_attempt_at)
		SELECT 'e' || n, 's' || n, 'desk', 'erase', CASE n % 2 WHEN 0 THEN 'failed' ELSE 'pending' END, n % 2,
			timestamptz '2024-03-01 08:00Z' + n * interval '100 ms',
			CASE n % 2 WHEN 0 THEN timestamptz '2024-03-01 08:00Z' + n * interval '100 ms' END
		FROM generate_series(0, 19999) AS n`).Exec(ctx)
	must(t, err)
	snapshot, err := db.BeginTx(ctx, nil)
	must(t, err)
	defer func() { _ = snapshot.Rollback() }()
	for _, statement := range []string{
		"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM habeas_outbox",
	} {
		_, err = snapshot.NewRaw(statement).Exec(ctx)
		must(t, err)
	}
	for _, statement := range []string{
		"UPDATE habeas_outbox SET status = 'succeeded' WHERE enqueued_at <> '2024-03-01 08:10Z'",
		"VACUUM ANALYZE habeas_outbox",
	} {
		_, err = db.NewRaw(statement).Exec(ctx)
		must(t, err)
	}
	target := domain.OutboxTarget{
		Resolver: "desk", Operation: domain.OperationErase,
		DueFrom: morning.Add(10 * time.Minute), DueUntil: morning.Add(10*time.Minute + time.Second),
	}
	var found []domain.OutboxEntry
	claim := hook.during(t, func() { found = b.claim(t, 50, noon, target) })[1]
	if len(found) != 1 || found[0].EntryID != "e6000" {
		t.Errorf("claimed are %v", found)
	}
	touches := func(from, until time.Time) int {
		return b.pagesRead(t, claim, noon, 50, noon.Add(lease), "token", noon.Add(domain.LongestWait),
			"desk", "erase", from, until, 50)
	}
	beginning := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	short, long := touches(target.DueFrom.Add(time.Minute), target.DueUntil.Add(time.Minute)), touches(beginning, noon)
	if short > 60 || long < 300 {
		t.Errorf("a second touches %d pages, and everything %d", short, long)
	}
}
