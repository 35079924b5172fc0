package bunstore_test

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// In a partitioned table, rows of different partitions can have the same ctid (the position of a row). A claim must
// therefore find outbox entries by their primary keys.
func TestAPartitionedOutboxLosesAndDuplicatesNoEntry(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	b := newBox(t, db)
	for _, statement := range []string{
		"ALTER TABLE habeas_outbox RENAME TO whole",
		"CREATE TABLE habeas_outbox (LIKE whole INCLUDING GENERATED) PARTITION BY HASH (entry_id)",
		"DROP TABLE whole",
		"ALTER TABLE habeas_outbox ADD PRIMARY KEY (entry_id)",
		"CREATE TABLE outbox_0 PARTITION OF habeas_outbox FOR VALUES WITH (MODULUS 3, REMAINDER 0)",
		"CREATE TABLE outbox_1 PARTITION OF habeas_outbox FOR VALUES WITH (MODULUS 3, REMAINDER 1)",
		"CREATE TABLE outbox_2 PARTITION OF habeas_outbox FOR VALUES WITH (MODULUS 3, REMAINDER 2)",
	} {
		execute(t, db, statement)
	}
	const entries = 300
	b.enqueue(t, numbered(t, entries)...)
	take := domain.Take{Resolver: "desk", Operation: domain.OperationErase, Fresh: 40}
	taken := map[string]int{}
	for at := noon; len(taken) < entries; {
		claimed := b.claim(t, at, take)
		if len(claimed) != min(40, entries-len(taken)) {
			t.Fatalf("%d were claimed after %d", len(claimed), len(taken))
		}
		settlements := make([]domain.Settlement, len(claimed))
		for i, entry := range claimed {
			taken[entry.EntryID]++
			settlements[i] = []domain.Settlement{succeeds(entry), abandons(entry)}[i%2]
		}
		for i, result := range b.settle(t, settlements...) {
			if result.Stale || result.Completes != (i%2 == 0) {
				t.Fatalf("settlement %d came to %+v", i, result)
			}
		}
	}
	counts := b.counts(t)
	if counts[domain.OutboxSucceeded] != entries/2 || counts[domain.OutboxAbandoned] != entries/2 {
		t.Errorf("counted are %v", counts)
	}
	b.do(t, func(ctx context.Context, outbox wholeOutbox) error {
		requeued, err := outbox.RequeueMatching(ctx, domain.OutboxFilter{}, 100)
		if len(requeued) != 100 {
			t.Errorf("%d were requeued", len(requeued))
		}
		return err
	})
	b.do(t, func(ctx context.Context, outbox wholeOutbox) error {
		removed, err := outbox.Purge(ctx, noon, 1000)
		if removed != entries/2 {
			t.Errorf("%d were removed", removed)
		}
		return err
	})
	if counts := b.counts(t); counts[domain.OutboxPending] != 100 || counts[domain.OutboxAbandoned] != entries/2-100 {
		t.Errorf("left are %v", counts)
	}
}
