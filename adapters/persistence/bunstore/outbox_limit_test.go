package bunstore_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

// A claim must still return an outbox entry whose number of attempts is the largest number that the column can hold.
// Such an entry must not prevent the claim of other entries.
func TestACounterAtItsLimitBlocksNoEntry(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "e1", "1", 0), toErase(t, "e2", "2", 0))
		execute(t, db, "UPDATE habeas_outbox SET attempts = 2147483647 WHERE entry_id = 'e1'")
		if got := b.claim(t, noon, upTo(10)...); len(got) != 2 {
			t.Errorf("claimed %q", ids(got))
		}
	})
}
