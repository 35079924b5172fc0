package porttest

import (
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// withOperation sets the operation id of the entries and returns them.
func withOperation(operationID string, entries ...domain.OutboxEntry) []domain.OutboxEntry {
	for i := range entries {
		entries[i].OperationID = operationID
	}
	return entries
}

func outboxOperationsCompleteOneByOne(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe := subjectOf(t, "acme", "7")
	e := b.enqueueAndClaim(t, slices.Concat(
		withOperation("first", toErase(t, "a", zoe, 0), toErase(t, "b", zoe, 1*tick)),
		withOperation("second", toErase(t, "c", zoe, 2*tick), toErase(t, "d", zoe, 3*tick)),
		withOperation("", toErase(t, "e", zoe, 4*tick)),
		withOperation("first", toRectify(t, "f", zoe, 5*tick)))...)
	b.settle(t, abandons(e[1]))
	expectResult(t, "one of two of an operation", b.settle(t, succeeds(e[2])), applied)
	expectResult(t, "with another operation open, the last success", b.settle(t, succeeds(e[3])), completes)
	expectResult(t, "with it, the only success without an operation id", b.settle(t, succeeds(e[4])), completes)
	expectResult(t, "with it, a rectification of its id", b.settle(t, succeeds(e[5])), completes)
}

func outboxDiscardCompletesOneOperation(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe := subjectOf(t, "acme", "7")
	e := b.enqueueAndClaim(t, slices.Concat(
		withOperation("first", toErase(t, "a", zoe, 0), toErase(t, "b", zoe, time.Second)),
		withOperation("second", toErase(t, "c", zoe, 2*time.Second)),
		withOperation("third", toErase(t, "d", zoe, 3*time.Second)))...)
	b.settle(t, abandons(e[0]), succeeds(e[1]), abandons(e[2]), abandons(e[3]))
	var completing []string
	for _, ids := range [][]string{{"c", "a"}, {"d"}} {
		for _, d := range b.discard(t, ids...) {
			if d.Completes {
				completing = append(completing, d.Entry.EntryID)
			}
		}
	}
	if want := []string{"a", "c", "d"}; !slices.Equal(completing, want) {
		t.Errorf("of a discard with one entry left of each operation, %v complete, want %v", completing, want)
	}
}
