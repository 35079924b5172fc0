package bunstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// A claim that asks for outbox entries from an instant on must return all of these entries, and must not read earlier
// index entries. This matters while a long transaction runs, because the indexes then still contain settled rows.
func TestAClaimReadsNothingBeforeItsMark(t *testing.T) {
	t.Parallel()
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
	take := domain.Take{Resolver: "desk", Operation: domain.OperationErase, Fresh: 50, Retries: 50}
	claim := hook.during(t, func() { b.claim(t, noon, domain.Take{Resolver: "nobody", Fresh: 50}) })[1]
	at := morning.Add(10 * time.Minute)
	claims := func(from any) (ids []string) {
		tx, err := db.BeginTx(ctx, nil)
		must(t, err)
		defer func() { _ = tx.Rollback() }()
		rows, err := tx.Tx.QueryContext(ctx, "WITH claimed AS ("+claim+") SELECT entry_id FROM claimed",
			parametersOf(t, take, from)...)
		must(t, err)
		defer rows.Close()
		for rows.Next() {
			var id string
			must(t, rows.Scan(&id))
			ids = append(ids, id)
		}
		must(t, rows.Err())
		return ids
	}
	if got := claims(at); !slices.Equal(got, []string{"e6000"}) {
		t.Errorf("claimed are %v", got)
	}
	if got := claims(at.Add(time.Microsecond)); len(got) > 0 {
		t.Errorf("claimed from a later instant on are %v", got)
	}
	touches := func(from any) int { return b.pagesRead(t, claim, parametersOf(t, take, from)...) }
	short, long := touches(morning.Add(33*time.Minute)), touches("-infinity")
	if short > 60 || long < 300 {
		t.Errorf("20 seconds touch %d pages, and everything %d", short, long)
	}
}
