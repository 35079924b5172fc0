package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// TestSessions checks that a store keeps the promises of ports.SessionFactory and ports.Session.
func TestSessions(t *testing.T, h StoreHarness) {
	t.Helper()
	hold(t, sessionPromises, h, h.Waive)
}

var sessionPromises = []promise[StoreHarness]{
	promised("session commits everything", "what is written through any store is there after the commit",
		sessionCommitsEverything),
	promised("session rolls everything back on an error", "an error of fn rolls all of it back, together",
		sessionRollsEverythingBackOnAnError),
	promised("session returns the error that it was given", "an error of fn comes back for errors.Is and errors.As",
		sessionReturnsTheErrorThatItWasGiven),
	promised("session rolls everything back on a panic", "a panic of fn rolls all of it back",
		sessionRollsEverythingBackOnAPanic),
	promised("session lets a panic go on", "a panic of fn goes on, with its value", sessionLetsAPanicGoOn),
	promised("session rolls back when its goroutine exits", "so it is rolled back where fn returns in no way at all",
		sessionRollsBackWhenItsGoroutineExits),

	promised("session rolls back when its context is cancelled", "a context cancelled before the commit is context.Canceled",
		sessionRollsBackWhenItsContextIsCancelled),
	promised("session rolls back when its deadline has passed", "a deadline before the commit is context.DeadlineExceeded",
		sessionRollsBackWhenItsDeadlineHasPassed),
	promised("session does nothing in a context that has ended", "so it is with a context that has ended before Do",
		sessionDoesNothingInAContextThatHasEnded),
	promised("session stops waiting when its context ends", "a session that waits for another one does so no longer",
		sessionStopsWaitingWhenItsContextEnds),

	promised("session fails with a swallowed error", "a statement that failed fails Do, its error swallowed or not",
		sessionFailsWithASwallowedError),
	promised("session fails with a held-back append", "an append that is held back fails Do at the latest",
		sessionFailsWithAHeldBackAppend),
	promised("session cannot be nested", "a Do inside fn is ErrSession, and writes nothing", sessionCannotBeNested),
	promised("session cannot be used after its end", "a session, and any store of it, is ErrSession after its end",
		sessionCannotBeUsedAfterItsEnd),
	promised("session keeps copies", "what was appended or returned is a copy", sessionKeepsCopies),

	promised("session opens no connection before its first statement", "there is no connection before the first statement",
		sessionOpensNoConnectionBeforeItsFirstStatement),
	promised("session leaves no connection behind", "there is no connection after the end, whatever the end was",
		sessionLeavesNoConnectionBehind),

	promised("session shows nothing before its commit", "what is written is not visible to others before the commit",
		sessionShowsNothingBeforeItsCommit),
	promised("session is tried again after a deadlock", "of sessions in a deadlock, each succeeds in the end, once",
		sessionIsTriedAgainAfterADeadlock),
	promised("session factory serves many at once", "a factory is safe for concurrent use (run with -race)",
		sessionFactoryServesManyAtOnce),

	promised("session reports a store that cannot be reached", "a store that cannot be reached is ErrUnavailable",
		sessionReportsAStoreThatCannotBeReached),
	promised("session gives nothing away in errors", "no error repeats an id, or a value that was written",
		sessionGivesNothingAwayInErrors),
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
	if err := s.Consents().Append(ctx, grant(id, "news", 0)); err != nil {
		return err
	}
	if err := s.Restrictions().Append(ctx, restrict(id, nil, 0)); err != nil {
		return err
	}
	if err := s.Subjects().Lock(ctx, id, noon); err != nil {
		return err
	}
	if _, err := s.Subjects().Apply(ctx, id, []domain.Step{deleteAddresses}); err != nil {
		return err
	}
	if err := s.Outbox().Enqueue(ctx, erasureAt("desk", "left-entry", id)); err != nil {
		return err
	}
	return s.Audit().Append(ctx, event("left-event", id))
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
