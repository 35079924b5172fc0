package porttest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// outboxOperationsPromises are the promises of ports.OutboxAdmin for many entries, and those about first claims.
var outboxOperationsPromises = []promise.Promise[StoreHarness]{
	that(outboxBacklogCountsByResolver,
		"Backlog counts the entries that have not succeeded, by resolver and status, with their oldest instants."),
	that(outboxRequeueTakesMatchingEntries, "RequeueMatching requeues abandoned erasures by resolver and age."),
	that(outboxDiscardSettlesAbandonedEntries,
		"Discard settles an abandoned entry as succeeded and removes its ref and corrections."),
	that(outboxDiscardCompletesAnErasure,
		"If all other entries of an erasure have succeeded, Discard of the last entry completes the erasure."),
	that(outboxDiscardCompletesOneOperation,
		"Discard completes an operation even if another operation of the subject is open."),
	that(outboxFirstClaimIsResetByARequeue, "FirstClaims returns the instant of the first claim since the last requeue."),
	that(outboxFirstClaimIsResetByARelease, "FirstClaims ignores a claim that was released without a call."),
}

// administer calls fn with the ports.OutboxAdmin of a separate session.
func (b box) administer(t testing.TB, fn func(context.Context, ports.OutboxAdmin) error) {
	t.Helper()
	do(t, b.Store, func(ctx context.Context, s ports.Session) error { return fn(ctx, s.OutboxAdmin()) })
}

func outboxBacklogCountsByResolver(t testing.TB, h StoreHarness) {
	b := h.box(t)
	var got []domain.OutboxBacklog
	read := func(ctx context.Context, admin ports.OutboxAdmin) (err error) {
		got, err = admin.Backlog(ctx)
		return err
	}
	b.administer(t, read)
	assert(t, len(got) == 0, "the backlog of an empty outbox is %v", got)
	e := b.enqueueAndClaim(t, slices.Concat(erasuresNamed(t, "d", 6, 0, nil), erasuresNamed(t, "c", 2, time.Hour, ofCRM),
		erasuresNamed(t, "g", 1, 0, func(e *domain.OutboxEntry) { e.Resolver = "gone" }))...)
	b.settle(t, succeeds(e[0]), fails(e[1], noon.Add(time.Hour)), fails(e[2], noon.Add(-time.Minute)), abandons(e[3]),
		givesBack(e[4]), abandons(e[6]), succeeds(e[7]), succeeds(e[8]))
	b.administer(t, read)
	oldest, due := e[1].EnqueuedAt, e[4].EnqueuedAt
	counts := func(pending, inFlight, failed, abandoned int64) map[domain.OutboxStatus]int64 {
		return map[domain.OutboxStatus]int64{
			domain.OutboxPending: pending, domain.OutboxInFlight: inFlight, domain.OutboxFailed: failed,
			domain.OutboxAbandoned: abandoned, domain.OutboxSpared: 0,
		}
	}
	want := []domain.OutboxBacklog{
		{Resolver: "crm", Counts: counts(0, 0, 0, 1)},
		{Resolver: "desk", Counts: counts(1, 1, 2, 1), Oldest: &oldest, OldestDue: &due},
	}
	assert(t, backlogText(got) == backlogText(want), "the backlog is %s, want %s", backlogText(got), backlogText(want))
}

func backlogText(backlogs []domain.OutboxBacklog) (text string) {
	for _, b := range backlogs {
		text += fmt.Sprintf("%s %v", b.Resolver, b.Counts)
		for _, instant := range []*time.Time{b.Oldest, b.OldestDue} {
			if instant != nil {
				text += " " + instant.UTC().Format(time.RFC3339Nano)
			}
		}
		text += "; "
	}
	return text
}

func outboxRequeueTakesMatchingEntries(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entries := slices.Concat(erasuresNamed(t, "d", 5, 0, nil), erasuresNamed(t, "c", 3, time.Hour, ofCRM))
	entries = append(entries, toRectify(t, "r", entries[0].SubjectID, 0))
	requeue := func(filter domain.OutboxFilter, limit int) (got []string) {
		b.administer(t, func(ctx context.Context, admin ports.OutboxAdmin) error {
			requeued, err := admin.RequeueMatching(ctx, filter, limit)
			for _, entry := range requeued {
				if entry.Status != domain.OutboxPending || entry.Attempts != 0 || entry.NextAttemptAt != nil ||
					entry.LastError != nil {
					t.Errorf("%s is requeued as %s, after %d attempts", entry.EntryID, entry.Status, entry.Attempts)
				}
			}
			got = entryIDs(requeued)
			return err
		})
		return got
	}
	var settlements []domain.Settlement
	for _, entry := range b.enqueueAndClaim(t, entries...) {
		settlements = append(settlements, abandons(entry))
	}
	b.settle(t, settlements...)
	at := func(i int) time.Time { return entries[i].EnqueuedAt }
	for _, c := range []struct {
		name   string
		filter domain.OutboxFilter
		limit  int
		want   []string
	}{
		{"none", domain.OutboxFilter{}, 0, nil},
		{"of another resolver", domain.OutboxFilter{Resolver: "mail"}, 10, nil},
		{"by age", domain.OutboxFilter{EnqueuedFrom: at(1), EnqueuedBefore: at(3)}, 10, []string{"d1", "d2"}},
		{"by resolver", domain.OutboxFilter{Resolver: "crm"}, 2, []string{"c0", "c1"}},
		{"by resolver, again", domain.OutboxFilter{Resolver: "crm"}, 2, []string{"c2"}},
		{"by both", domain.OutboxFilter{Resolver: "desk", EnqueuedBefore: at(4)}, 10, []string{"d0", "d3"}},
		{"all", domain.OutboxFilter{}, 10, []string{"d4"}},
	} {
		expectIDs(t, c.name+": requeued", requeue(c.filter, c.limit), c.want...)
	}
	expectEntries(t, "still abandoned", b.abandoned(t, nil, 10), "r") // rectifications cannot be requeued
}

func (b box) discard(t testing.TB, ids ...string) (discarded []domain.Discarded) {
	t.Helper()
	b.administer(t, func(ctx context.Context, admin ports.OutboxAdmin) (err error) {
		discarded, err = admin.Discard(ctx, ids)
		return err
	})
	return discarded
}

func outboxDiscardSettlesAbandonedEntries(t testing.TB, h StoreHarness) {
	b := h.withAbandoned(t)
	before := b.counts(t)
	discarded := b.discard(t, "succeeded", "failed", "in flight", "pending", "unknown", "h", "b", "g", "g")
	var got []string
	for _, d := range discarded {
		got = append(got, d.Entry.EntryID)
		assert(t, d.Entry.Status == domain.OutboxSucceeded && d.Entry.LastError == nil && !d.Completes,
			"%s is discarded as %s, completes is %v", d.Entry.EntryID, d.Entry.Status, d.Completes)
		expectForgotten(t, d.Entry)
	}
	expectIDs(t, "discarded", got, "b", "g", "h") // the abandoned entries
	before[domain.OutboxAbandoned] -= 3
	before[domain.OutboxSucceeded] += 3
	b.expectCounts(t, before)
	again := b.discard(t, "b", "g", "h")
	assert(t, len(again) == 0, "discarded again are %v", again)
}

func outboxDiscardCompletesAnErasure(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe, yan := subjectOf(t, "acme", "7"), subjectOf(t, "acme", "8")
	e := b.enqueueAndClaim(t, toErase(t, "a", zoe, 0), toErase(t, "b", zoe, time.Second),
		toErase(t, "c", zoe, 2*time.Second), toErase(t, "d", yan, 0), toErase(t, "e", yan, time.Second),
		toRectify(t, "r", zoe, 0))
	b.settle(t, abandons(e[0]), abandons(e[1]), succeeds(e[2]), abandons(e[3]), fails(e[4], noon), abandons(e[5]))
	completing := func(ids ...string) (completing []string) {
		for _, d := range b.discard(t, ids...) {
			if d.Completes {
				completing = append(completing, d.Entry.EntryID)
			}
		}
		return completing
	}
	b.discard(t)
	for _, c := range []struct{ discard, want []string }{
		{[]string{"r"}, nil}, // an abandoned rectification does not prevent completion
		{[]string{"b"}, nil}, // a is still abandoned
		{[]string{"d"}, nil}, // e has failed and is open
		{[]string{"a"}, []string{"a"}},
	} {
		got := completing(c.discard...)
		assert(t, slices.Equal(got, c.want), "with %v discarded, %v complete, want %v", c.discard, got, c.want)
	}
	last := b.settle(t, succeeds(b.claim(t, 10, noon)[0]))
	expectResult(t, "the last success, with a discarded entry,", last, completes)
	e = b.enqueueAndClaim(t, toErase(t, "f", zoe, 0), toErase(t, "g", zoe, time.Second))
	b.settle(t, abandons(e[0]), abandons(e[1]))
	// The entries "f" and "g" belong to one erasure. Discard sets Completes for "g", because "g" was enqueued last.
	expectIDs(t, "of two that are discarded together, those that complete", completing("g", "f"), "g")
}

func outboxFirstClaimIsResetByARequeue(t testing.TB, h StoreHarness) {
	b := h.box(t)
	since := func(ids ...string) map[string]time.Time { return b.firstClaims(t, ids...) }
	e := b.enqueueAndClaim(t, erasuresNamed(t, "d", 2, 0, nil)...)
	b.settle(t, abandons(e[0]), fails(e[1], noon.Add(24*time.Hour)))
	first := *e[1].LastAttemptAt
	b.requeue(t, "d0")
	got := since("d0", "d1", "unknown")
	assert(t, len(got) == 1 && got["d1"].Equal(first), "before a claim, FirstClaims returned %v", got)
	for i := range 2 { // FirstClaims returns only the first claim
		at := noon.Add(time.Hour + time.Duration(i)*time.Hour)
		b.settle(t, fails(b.claim(t, 10, at)[0], at))
		got := since("d0", "d1", "unknown")
		assert(t, len(got) == 2 && got["d0"].Equal(noon.Add(time.Hour)) && got["d1"].Equal(first),
			"after claim %d, FirstClaims returned %v", i+1, got)
	}
	b.settle(t, abandons(b.claim(t, 10, noon.Add(3*time.Hour))[0]))
	b.requeue(t, "d0")
	b.claim(t, 10, noon.Add(4*time.Hour))
	got = since("d0")
	assert(t, got["d0"].Equal(noon.Add(4*time.Hour)), "after another requeue, FirstClaims returned %v", got)
}

func outboxFirstClaimIsResetByARelease(t testing.TB, h StoreHarness) {
	b := h.box(t)
	since := func(ids ...string) map[string]time.Time { return b.firstClaims(t, ids...) }
	b.enqueue(t, erasuresNamed(t, "d", 1, 0, nil)...)
	got := since("d0")
	assert(t, len(got) == 0, "before any claim, FirstClaims returned %v", got)
	b.settle(t, givesBack(b.claim(t, 10, noon)[0]))
	got = since("d0")
	assert(t, len(got) == 0, "after a release, FirstClaims returned %v", got)
	at := noon.Add(time.Hour)
	b.settle(t, fails(b.claim(t, 10, at)[0], at))
	b.settle(t, givesBack(b.claim(t, 10, at.Add(time.Hour))[0]))
	got = since("d0")
	assert(t, got["d0"].Equal(at), "after a release of a second claim, FirstClaims returned %v", got)
}

func (b box) firstClaims(t testing.TB, ids ...string) map[string]time.Time {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, s ports.Session) (map[string]time.Time, error) {
		return s.Outbox().FirstClaims(ctx, ids)
	})
}
