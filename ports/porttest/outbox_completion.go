package porttest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func outboxLastSuccessCompletes(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe, yan := subjectOf(t, "acme", "7"), subjectOf(t, "umbrella", "7")
	e := b.enqueueAndClaim(t,
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
		got := b.settle(t, step.settlements...)
		assert(t, slices.Equal(got, step.want),
			"%s resulted in %v, want %v", step.settlements[0].Entry.EntryID, namesOf(got), namesOf(step.want))
	}
	anew := b.enqueueAndClaim(t, toErase(t, "erased again", zoe, time.Hour))
	expectResult(t, "the only entry of a later erasure", b.settle(t, succeeds(anew[0])), completes)
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
			e := b.enqueueAndClaim(t, entries...)
			// Two calls of Settle settle the two entries of the first subject. One call settles both entries of the second
			// subject.
			b.settle(t, settle(e[0])...)
			if got := b.settle(t, succeeds(e[1])); got[0] != applied {
				t.Errorf("%s: after another entry was %s, a success resulted in %v", operation, name, namesOf(got))
			}
			if got := b.settle(t, append(settle(e[2]), succeeds(e[3]))...); slices.Contains(got, completes) {
				t.Errorf("%s: in one call with another entry that became %s, a success completed", operation, name)
			}
		}
		b.claim(t, 1000, noon) // claims the entries that were settled as pending, so that the next round does not claim them
	}
}

func outboxAbandonedErasuresHoldCompletionBack(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe, yan := subjectOf(t, "acme", "7"), subjectOf(t, "acme", "8")
	e := b.enqueueAndClaim(t,
		toErase(t, "a", zoe, 0), toErase(t, "b", zoe, 1*tick),
		toErase(t, "c", yan, 2*tick), toErase(t, "d", yan, 3*tick))
	b.settle(t, abandons(e[0]))
	expectResult(t, "after an abandoned erasure, a success", b.settle(t, succeeds(e[1])), applied)
	if got := b.settle(t, succeeds(e[2]), abandons(e[3])); slices.Contains(got, completes) {
		t.Errorf("a success completed although an erasure was abandoned")
	}
	b.requeue(t, "a")
	again := b.claim(t, 10, noon)
	must(t, len(again) == 1, "%d entries are due after the requeue, want 1", len(again))
	expectResult(t, "once the abandoned erasure was requeued, its success", b.settle(t, succeeds(again[0])), completes)
}

// An abandoned rectification is never requeued and never succeeds, so it must not prevent the completion of its
// operation.
func outboxAbandonedRectificationsHoldNothingBack(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe, yan, eve := subjectOf(t, "acme", "7"), subjectOf(t, "acme", "8"), subjectOf(t, "acme", "9")
	e := b.enqueueAndClaim(t,
		toRectify(t, "a", zoe, 0), toRectify(t, "b", zoe, 1*tick),
		toRectify(t, "c", yan, 2*tick), toRectify(t, "d", yan, 3*tick),
		toRectify(t, "e", eve, 4*tick), toRectify(t, "f", eve, 5*tick))
	b.settle(t, abandons(e[0]))
	expectResult(t, "after an abandoned rectification, a success", b.settle(t, succeeds(e[1])), completes)
	got := b.settle(t, abandons(e[2]), succeeds(e[3]), succeeds(e[4]), abandons(e[5]))
	if want := []domain.SettleResult{applied, completes, completes, applied}; !slices.Equal(got, want) {
		t.Errorf("in one call with abandoned rectifications, successes resulted in %v, want %v", namesOf(got), namesOf(want))
	}
}

func outboxClaimsShareNoEntry(t testing.TB, h StoreHarness) {
	const claimers, atOnce = 16, 7
	b := h.box(t)
	entries := numbered(t, 200)
	b.enqueue(t, entries...)
	var mu sync.Mutex
	taken := map[string]int{}
	var claiming sync.WaitGroup
	for claimer := range claimers {
		claiming.Go(func() {
			for round := range len(entries) { // bounds the loop
				mine := fmt.Sprintf("lease %d of %d", round, claimer)
				var claimed []domain.OutboxEntry
				err := b.try(t, func(ctx context.Context, outbox ports.Outbox) (err error) {
					wanted := query(noon, domain.Take{Resolver: "desk", Operation: domain.OperationErase, Fresh: atOnce, Retries: 1})
					wanted.LeaseToken = mine
					claimed, err = outbox.Claim(ctx, wanted)
					return err
				})
				assert(t, err == nil && len(claimed) <= atOnce,
					"a concurrent claim took %d entries, of up to %d, and returned the error: %v", len(claimed), atOnce, err)
				if err != nil || len(claimed) == 0 {
					return
				}
				mu.Lock()
				for _, entry := range claimed {
					taken[entry.EntryID]++
					assert(t, entry.Attempts == 1 && entry.LeaseToken != nil && *entry.LeaseToken == mine,
						"%s was claimed at attempt %d, or under the lease of another", entry.EntryID, entry.Attempts)
				}
				mu.Unlock()
			}
		})
	}
	claiming.Wait()
	for _, entry := range entries {
		n := taken[entry.EntryID]
		assert(t, n == 1, "%s was claimed %d times", entry.EntryID, n)
	}
}

func outboxClaimsDoNotWaitForEachOther(t testing.TB, h StoreHarness) {
	b := h.box(t)
	b.enqueue(t, numbered(t, 6)...)
	two := domain.Take{Resolver: "desk", Operation: domain.OperationErase, Fresh: 2}
	other := make(chan []string, 1)
	claim, claimed := concurrently(func() {
		var found []domain.OutboxEntry
		err := b.try(t, func(ctx context.Context, outbox ports.Outbox) (err error) {
			found, err = outbox.Claim(ctx, query(noon.Add(tick), two))
			return err
		})
		assert(t, err == nil, "a concurrent claim failed: %v", err)
		other <- entryIDs(found)
	})
	defer claimed()
	b.do(t, func(ctx context.Context, outbox ports.Outbox) error {
		first, err := outbox.Claim(ctx, query(noon, two))
		assert(t, slices.Equal(entryIDs(first), []string{"e000", "e001"}), "claimed %v", entryIDs(first))
		claim()
		second, ok := receiveWithin(other, b.patience/2)
		if !ok {
			t.Errorf("a claim waits for the session of another one")
		} else if !slices.Equal(second, []string{"e002", "e003"}) {
			t.Errorf("during a claim of two entries, another claim got %v, want the next two", second)
		}
		return err
	})
}

func outboxConcurrentSettlementsCompleteOnce(t testing.TB, h StoreHarness) {
	const sessions = 8
	b := h.box(t)
	zoe, yan := subjectOf(t, "acme", "7"), subjectOf(t, "umbrella", "7")
	var entries []domain.OutboxEntry
	for i := range sessions {
		entries = append(entries, toErase(t, fmt.Sprintf("z%d", i), zoe, 0), toErase(t, fmt.Sprintf("y%d", i), yan, 0))
	}
	claimed := b.enqueueAndClaim(t, entries...)
	var mu sync.Mutex
	completed := map[domain.SubjectID]int{}
	var settling sync.WaitGroup
	begin := make(chan struct{})
	for i := range sessions {
		settlements := []domain.Settlement{succeeds(claimed[2*i]), succeeds(claimed[2*i+1])}
		if i%2 == 1 {
			slices.Reverse(settlements)
		}
		settling.Go(func() {
			<-begin
			var results []domain.SettleResult
			err := b.try(t, func(ctx context.Context, outbox ports.Outbox) (err error) {
				results, err = outbox.Settle(ctx, settlements)
				return err
			})
			if err != nil || len(results) != len(settlements) || slices.Contains(results, stale) {
				t.Errorf("a concurrent settlement resulted in %v and returned the error: %v", namesOf(results), err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for j, result := range results {
				if result.Completes {
					completed[settlements[j].Entry.SubjectID]++
				}
			}
		})
	}
	close(begin)
	settling.Wait()
	for _, id := range []domain.SubjectID{zoe, yan} {
		if completed[id] != 1 {
			t.Errorf("%d of the %d sessions that settled a subject's entries completed it, want 1", completed[id], sessions)
		}
	}
}

// The first session settles its entry and stays open while the second session settles the other entry. Without a lock,
// each session would see the entry of the other session as open. No session would then complete the operation.
func outboxOverlappingSettlementsCompleteOnce(t testing.TB, h StoreHarness) {
	b := h.box(t)
	id := subjectOf(t, "acme", "7")
	claimed := b.enqueueAndClaim(t, toErase(t, "a", id, 0), toErase(t, "b", id, time.Second))
	var second []domain.SettleResult
	done := make(chan struct{})
	settle, settled := concurrently(func() {
		defer close(done)
		err := b.try(t, func(ctx context.Context, outbox ports.Outbox) (err error) {
			second, err = outbox.Settle(ctx, []domain.Settlement{succeeds(claimed[1])})
			return err
		})
		assert(t, err == nil, "a concurrent settlement failed: %v", err)
	})
	var results []domain.SettleResult
	b.do(t, func(ctx context.Context, outbox ports.Outbox) (err error) {
		results, err = outbox.Settle(ctx, []domain.Settlement{succeeds(claimed[0])})
		settle()
		receiveWithin(done, moment) // the second session may have to wait for this one
		return err
	})
	settled()
	results = append(results, second...)
	assert(t, !slices.Contains(results, stale) && len(results) == 2 && results[0].Completes != results[1].Completes,
		"two sessions that settled a subject's last entries at the same time got %v, want one that completes",
		namesOf(results))
}
