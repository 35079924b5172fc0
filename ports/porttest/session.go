package porttest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestSessions checks that a store keeps the promises of ports.SessionFactory and ports.Session.
func TestSessions(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.Hold(t, sessionPromises, h, h.Waive)
}

var sessionPromises = slices.Concat(runPromises, rehearsalPromises)

// runPromises are the promises about the sessions that SessionFactory.Do runs, and about SessionFactory.Probe.
var runPromises = []promise.Promise[StoreHarness]{
	that(sessionCommitsEverything, "A commit makes the writes through every store of the session visible."),
	that(sessionRollsEverythingBackOnAnError, "An error of fn rolls back all writes of the session."),
	that(sessionReturnsTheErrorThatItWasGiven, "Do returns an error of fn so that errors.Is and errors.As find it."),
	that(sessionRollsEverythingBackOnAPanic, "A panic of fn rolls back all writes of the session."),
	that(sessionLetsAPanicGoOn, "If fn panics, Do rolls back and panics with the same value."),
	that(sessionRollsBackWhenItsGoroutineExits,
		"The session is rolled back if fn ends its goroutine with runtime.Goexit."),

	that(sessionCallsAfterItsCommit,
		"The functions of AfterEnd see the writes of the session. Their error is nil if, and only if, it has committed."),
	that(sessionReportsItsEnd, "Functions of AfterEnd are called once, in order, with the error that Do returns."),
	that(sessionIsObserved, "The observer is notified of each session, and fn gets the context of the observed activity."),

	that(sessionRollsBackWhenItsContextIsCancelled,
		"Do returns context.Canceled if the context is cancelled before the commit."),
	that(sessionRollsBackWhenItsDeadlineHasPassed,
		"Do returns context.DeadlineExceeded if the deadline passes before the commit."),
	that(sessionDoesNothingInAContextThatHasEnded,
		"Do returns the error of the context, and does not call fn, if the context has ended before the call."),
	that(sessionStopsWaitingWhenItsContextEnds,
		"The wait for another session ends when the context of the waiting session ends."),

	that(sessionFailsWithASwallowedError, "If a statement fails, Do fails even if fn ignores the error."),
	that(sessionFailsWithAHeldBackAppend, "If an append that the store has buffered fails, Do returns an error."),
	that(sessionCannotBeNested, "A call of Do inside fn returns ErrSession and writes nothing."),
	that(sessionCannotBeUsedAfterItsEnd, "A session and its stores return ErrSession after the end of the session."),
	that(sessionKeepsCopies, "The store copies the values that it receives and returns."),

	that(sessionOpensNoConnectionBeforeItsFirstStatement, "A session takes no connection before its first statement."),
	that(sessionLeavesNoConnectionBehind, "A session holds no connection after it has ended for any reason."),

	that(sessionShowsNothingBeforeItsCommit, "Writes are invisible to other sessions before the commit."),
	that(sessionIsTriedAgainAfterADeadlock,
		"Do retries the sessions of a deadlock, and each session commits exactly once."),
	that(sessionFactoryIsSafeForConcurrentUse, "A session factory is safe for concurrent use (run with -race)."),

	that(sessionReportsAStoreThatCannotBeReached, "Do returns ErrUnavailable if the store cannot be reached."),
	that(sessionFactoryIsProbed, "A probe reports whether the store can be reached, and ends with its context."),
	that(sessionErrorsContainNoPersonalData, "No error contains an id of a subject or a value that was written."),
}

// rowCounts has the number of rows in each store of a session. It counts only the rows that writeToAllStores writes or
// deletes.
type rowCounts struct {
	consents, restrictions, entries, events int
	addresses                               int
}

// countsBefore and countsAfter are the rowCounts before and after writeToAllStores.
var (
	countsBefore = rowCounts{addresses: 1}
	countsAfter  = rowCounts{consents: 1, restrictions: 1, entries: 1, events: 1}
)

// openWithAddress opens a store with a person and an address, which writeToAllStores deletes.
func (h StoreHarness) openWithAddress(t testing.TB) (Store, domain.SubjectID) {
	t.Helper()
	store := h.open(t)
	store.Insert(t, "people", Row{"tenant": "acme", "number": int64(1)})
	store.Insert(t, "addresses", Row{"id": int64(1), "tenant": "acme", "person": int64(1), "street": "Elm Street"})
	return store, subject(t, "acme", 1)
}

// writeToAllStores makes one write through each store of a session.
func writeToAllStores(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	return errors.Join(
		s.Consents().Append(ctx, grant(id, "news", 0)), s.Restrictions().Append(ctx, restrict(id, nil, 0)),
		errOf(s.Subjects().LockToRectify(ctx, id)),
		errOf(s.Subjects().Apply(ctx, id, []datamap.Step{deleteAddresses})),
		s.Outbox().Enqueue(ctx, erasureAt("desk", "left-entry", id)), s.Audit().Append(ctx, event("left-event", id)),
	)
}

// writeAndRead calls writeToAllStores. It then reads, because a store must send its buffered writes to the database
// before it reads.
func writeAndRead(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	return errors.Join(writeToAllStores(ctx, s, id), errOf(countRows(ctx, s, id)))
}

var deleteAddresses = datamap.Step{Target: "addresses", Strategy: domain.StrategyDelete}

func erasureAt(resolver, entryID string, of domain.SubjectID) domain.OutboxEntry {
	return domain.OutboxEntry{
		EntryID: entryID, SubjectID: of, Resolver: resolver, Ref: domain.SubjectRef{Kind: resolver, Value: "ref"},
		Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: noon,
	}
}

// countRows counts the rows that the session can see, except addresses.
func countRows(ctx context.Context, s ports.Session, id domain.SubjectID) (seen rowCounts, err error) {
	consents, err := s.Consents().History(ctx, id, "news")
	if err != nil {
		return seen, err
	}
	restrictions, err := s.Restrictions().History(ctx, id, nil)
	if err != nil {
		return seen, err
	}
	counts, err := s.OutboxAdmin().Counts(ctx)
	if err != nil {
		return seen, err
	}
	trail, err := s.Audit().Trail(ctx, id)
	for _, event := range trail {
		if event.EventID == "left-event" { // leaves out evidence
			seen.events++
		}
	}
	for _, n := range counts {
		seen.entries += int(n)
	}
	seen.consents, seen.restrictions = len(consents), len(restrictions)
	return seen, err
}

// expectRowCounts checks the row counts in a new session.
func expectRowCounts(t testing.TB, store Store, id domain.SubjectID, want rowCounts) {
	t.Helper()
	seen := read(t, store, func(ctx context.Context, s ports.Session) (rowCounts, error) { return countRows(ctx, s, id) })
	seen.addresses = len(store.Rows(t, "addresses"))
	assert(t, seen == want, "the stores hold %+v, want %+v", seen, want)
}
