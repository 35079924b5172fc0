package porttest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestSessions checks that a store keeps the promises of ports.SessionFactory, ports.Session and ports.Rehearser.
func TestSessions(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.Hold(t, sessionPromises, h, h.Waive)
}

var sessionPromises = slices.Concat(runPromises, rehearsalPromises)

// runPromises are about sessions that SessionFactory.Do runs.
var runPromises = []promise.Promise[StoreHarness]{
	that(sessionCommitsEverything, "what is written through any store is there after the commit"),
	that(sessionRollsEverythingBackOnAnError, "an error of fn rolls all of it back, together"),
	that(sessionReturnsTheErrorThatItWasGiven, "an error of fn comes back for errors.Is and errors.As"),
	that(sessionRollsEverythingBackOnAPanic, "a panic of fn rolls all of it back"),
	that(sessionLetsAPanicGoOn, "a panic of fn goes on, with its value"),
	that(sessionRollsBackWhenItsGoroutineExits, "so it is rolled back where fn returns in no way at all"),

	that(sessionCallsAfterItsCommit, "functions for after the commit are called in order, and only then"),
	that(sessionTellsOfItsEnd, "functions for its end are called in order, once, with what Do returns"),
	that(sessionIsObserved, "an observer is told of each session, and its context is that of fn"),

	that(sessionRollsBackWhenItsContextIsCancelled, "a context cancelled before the commit is context.Canceled"),
	that(sessionRollsBackWhenItsDeadlineHasPassed, "a deadline before the commit is context.DeadlineExceeded"),
	that(sessionDoesNothingInAContextThatHasEnded, "so it is with a context that has ended before Do"),
	that(sessionStopsWaitingWhenItsContextEnds, "a session that waits for another one does so no longer"),

	that(sessionFailsWithASwallowedError, "a statement that failed fails Do, its error swallowed or not"),
	that(sessionFailsWithAHeldBackAppend, "an append that is held back fails Do at the latest"),
	that(sessionCannotBeNested, "a Do inside fn is ErrSession, and writes nothing"),
	that(sessionCannotBeUsedAfterItsEnd, "a session, and any store of it, is ErrSession after its end"),
	that(sessionKeepsCopies, "what was appended or returned is a copy"),

	that(sessionOpensNoConnectionBeforeItsFirstStatement, "there is no connection before the first statement"),
	that(sessionLeavesNoConnectionBehind, "there is no connection after the end, whatever the end was"),

	that(sessionShowsNothingBeforeItsCommit, "what is written is not visible to others before the commit"),
	that(sessionIsTriedAgainAfterADeadlock, "of sessions in a deadlock, each succeeds in the end, once"),
	that(sessionFactoryServesManyAtOnce, "a factory is safe for concurrent use (run with -race)"),

	that(sessionReportsAStoreThatCannotBeReached, "a store that cannot be reached is ErrUnavailable"),
	that(sessionFactoryIsProbed, "a probe says whether the store can be reached, and ends with its context"),
	that(sessionGivesNothingAwayInErrors, "no error repeats an id, or a value that was written"),
}

// traces are what leave left behind, counted store by store.
type traces struct {
	consents, restrictions, entries, events int
	addresses                               int
}

// untouched and left are the traces before leave and after it.
var (
	untouched = traces{addresses: 1}
	left      = traces{consents: 1, restrictions: 1, entries: 1, events: 1}
)

// openWithAddress opens a store in which leave has an address to delete.
func (h StoreHarness) openWithAddress(t testing.TB) (Store, domain.SubjectID) {
	t.Helper()
	store := h.open(t)
	store.Insert(t, "people", Row{"tenant": "acme", "number": int64(1)})
	store.Insert(t, "addresses", Row{"id": int64(1), "tenant": "acme", "person": int64(1), "street": "Elm Street"})
	return store, subject(t, "acme", 1)
}

// leave writes through every store of a session.
func leave(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	return errors.Join(
		s.Consents().Append(ctx, grant(id, "news", 0)), s.Restrictions().Append(ctx, restrict(id, nil, 0)),
		s.Subjects().Lock(ctx, id, noon), errOf(s.Subjects().Apply(ctx, id, []domain.Step{deleteAddresses})),
		s.Outbox().Enqueue(ctx, erasureAt("desk", "left-entry", id)), s.Audit().Append(ctx, event("left-event", id)),
	)
}

// leaveAndLook leaves a trace and reads it back, so that nothing is held back any more.
func leaveAndLook(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	return errors.Join(leave(ctx, s, id), errOf(look(ctx, s, id)))
}

var deleteAddresses = domain.Step{Target: "addresses", Strategy: domain.StrategyDelete}

// erasureAt is an erasure that a resolver still has to carry out.
func erasureAt(resolver, entryID string, of domain.SubjectID) domain.OutboxEntry {
	return domain.OutboxEntry{
		EntryID: entryID, SubjectID: of, Resolver: resolver, Ref: domain.SubjectRef{Kind: resolver, Value: "ref"},
		Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: noon,
	}
}

// look counts what can be read in a session.
func look(ctx context.Context, s ports.Session, id domain.SubjectID) (seen traces, err error) {
	consents, err := s.Consents().History(ctx, id, "news")
	if err != nil {
		return seen, err
	}
	restrictions, err := s.Restrictions().History(ctx, id, nil)
	if err != nil {
		return seen, err
	}
	counts, err := s.Outbox().Counts(ctx)
	if err != nil {
		return seen, err
	}
	trail, err := s.Audit().Trail(ctx, id)
	for _, event := range trail {
		if event.EventID == "left-event" { // and no evidence
			seen.events++
		}
	}
	for _, n := range counts {
		seen.entries += int(n)
	}
	seen.consents, seen.restrictions = len(consents), len(restrictions)
	return seen, err
}

// expectTraces checks what there is once sessions have ended.
func expectTraces(t testing.TB, store Store, id domain.SubjectID, want traces) {
	t.Helper()
	seen := read(t, store, func(ctx context.Context, s ports.Session) (traces, error) { return look(ctx, s, id) })
	seen.addresses = len(store.Rows(t, "addresses"))
	assert(t, seen == want, "the stores hold %+v, want %+v", seen, want)
}
