package porttest

import (
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func outboxLastSuccessCompletes(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe, yan := subjectOf(t, "acme", "7"), subjectOf(t, "umbrella", "7")
	e := b.claimed(t,
		toErase(t, "a", zoe, 0), toErase(t, "b", zoe, 1*tick), toErase(t, "c", zoe, 2*tick), toErase(t, "d", zoe, 3*tick),
		toRectify(t, "another operation", zoe, 4*tick), toErase(t, "another subject", yan, 5*tick))
	for _, step := range []struct {
		settlements []domain.Settlement
		want        []domain.SettleResult
	}{
		{[]domain.Settlement{succeeds(e[2])}, []domain.SettleResult{applied}},
		{[]domain.Settlement{succeeds(e[0])}, []domain.SettleResult{applied}},
		{[]domain.Settlement{succeeds(e[3]), succeeds(e[1])}, []domain.SettleResult{applied, completes}},
		{[]domain.Settlement{succeeds(e[4])}, []domain.SettleResult{completes}},
		{[]domain.Settlement{succeeds(e[5])}, []domain.SettleResult{completes}},
	} {
		if got := b.settle(t, step.settlements...); !slices.Equal(got, step.want) {
			t.Errorf("%s came to %v, want %v", step.settlements[0].Entry.EntryID, named(got), named(step.want))
		}
	}
	anew := b.claimed(t, toErase(t, "erased again", zoe, time.Hour))
	if got := b.settle(t, succeeds(anew[0])); got[0] != completes {
		t.Errorf("the only entry of a later erasure came to %v", named(got))
	}
}

func outboxOpenEntriesHoldCompletionBack(t testing.TB, h StoreHarness) {
	b := h.box(t)
	for name, settle := range map[string]func(domain.OutboxEntry) []domain.Settlement{
		"in flight": func(domain.OutboxEntry) []domain.Settlement { return nil },
		"failed": func(e domain.OutboxEntry) []domain.Settlement {
			return []domain.Settlement{fails(e, noon.Add(time.Hour))}
		},
		"given back": func(e domain.OutboxEntry) []domain.Settlement { return []domain.Settlement{givesBack(e)} },
	} {
		for _, operation := range []domain.Operation{domain.OperationErase, domain.OperationRectify} {
			one, other := subjectOf(t, name, string(operation), "1"), subjectOf(t, name, string(operation), "2")
			var entries []domain.OutboxEntry
			for _, id := range []domain.SubjectID{one, other} {
				for _, which := range []string{"open", "succeeds"} {
					entry := toRectify(t, id.String()+which, id, 0)
					entry.Operation = operation
					entries = append(entries, entry)
				}
			}
			e := b.claimed(t, entries...)
			// Settled by a call before, and by the same call.
			b.settle(t, settle(e[0])...)
			if got := b.settle(t, succeeds(e[1])); got[0] != applied {
				t.Errorf("%s: beside another one that was %s already, a success came to %v", operation, name, named(got))
			}
			if got := b.settle(t, append(settle(e[2]), succeeds(e[3]))...); slices.Contains(got, completes) {
				t.Errorf("%s: beside another one that came to be %s, a success completed", operation, name)
			}
		}
		b.claim(t, 1000, noon) // so that what was given back is in nobody's way
	}
}

func outboxAbandonedErasuresHoldCompletionBack(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe, yan := subjectOf(t, "acme", "7"), subjectOf(t, "acme", "8")
	e := b.claimed(t, toErase(t, "a", zoe, 0), toErase(t, "b", zoe, 1*tick), toErase(t, "c", yan, 2*tick), toErase(t, "d", yan, 3*tick))
	b.settle(t, abandons(e[0]))
	if got := b.settle(t, succeeds(e[1])); got[0] != applied {
		t.Errorf("after an abandoned erasure, a success came to %v", named(got))
	}
	if got := b.settle(t, succeeds(e[2]), abandons(e[3])); slices.Contains(got, completes) {
		t.Errorf("together with an abandoned erasure, a success completed")
	}
	b.requeue(t, "a")
	again := b.claim(t, 10, noon)
	must(t, len(again) == 1, "%d entries are due after the requeue, want 1", len(again))
	if got := b.settle(t, succeeds(again[0])); got[0] != completes {
		t.Errorf("once the abandoned erasure was requeued, its success came to %v", named(got))
	}
}

// A rectification that was abandoned is issued anew: nobody will ever make a success of it.
func outboxAbandonedRectificationsHoldNothingBack(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe, yan, eve := subjectOf(t, "acme", "7"), subjectOf(t, "acme", "8"), subjectOf(t, "acme", "9")
	e := b.claimed(t,
		toRectify(t, "a", zoe, 0), toRectify(t, "b", zoe, 1*tick),
		toRectify(t, "c", yan, 2*tick), toRectify(t, "d", yan, 3*tick),
		toRectify(t, "e", eve, 4*tick), toRectify(t, "f", eve, 5*tick))
	b.settle(t, abandons(e[0]))
	if got := b.settle(t, succeeds(e[1])); got[0] != completes {
		t.Errorf("after an abandoned rectification, a success came to %v", named(got))
	}
	got := b.settle(t, abandons(e[2]), succeeds(e[3]), succeeds(e[4]), abandons(e[5]))
	if want := []domain.SettleResult{applied, completes, completes, applied}; !slices.Equal(got, want) {
		t.Errorf("in one call with abandoned rectifications, successes came to %v, want %v", named(got), named(want))
	}
}
