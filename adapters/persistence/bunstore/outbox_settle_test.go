package bunstore_test

import (
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// A batch of settlements may have more values than the database accepts as parameters of one statement: 65,535 on
// PostgreSQL, and 32,766 on SQLite. A settlement has five values.
func TestABatchOfAnySizeIsSettled(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		many := 14_000
		if db.Dialect().Name() == dialect.SQLite {
			many = 7_000
		}
		b.fill(t, many, domain.OutboxPending)
		claimed := b.claim(t, noon, upTo(many)...)
		settlements := make([]domain.Settlement, len(claimed))
		for i, entry := range claimed {
			settlements[i] = succeeds(entry)
		}
		for i, result := range b.settle(t, settlements...) {
			if result != (domain.SettleResult{Completes: true}) {
				t.Fatalf("settlement %d is %+v", i, result)
			}
		}
		if counts := b.counts(t); counts[domain.OutboxSucceeded] != int64(many) {
			t.Errorf("counted are %v", counts)
		}
	})
}
