package porttest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestRequestStore checks that a store keeps the promises of ports.RequestStore.
func TestRequestStore(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, requestPromises, harness, harness.Waive)
}

var requestPromises = []promise.Promise[StoreHarness]{
	that(requestComesBackAsStored, "A request is returned with the values that were added, appended or updated."),
	that(requestInstantsAreInUTCAndMicroseconds,
		"The instants of a request are returned in UTC and rounded down to the microsecond."),
	that(requestReferencesAndSubjectsAreKeptApart, "Queries never return a request of another subject or reference."),
	that(requestIsACopy, "The store copies the requests that it receives and returns."),
	that(requestIsFoundByItsNumber, "Find returns the request with exactly this number, and nil if there is none."),
	that(requestIsFoundWithTheSameStatements, "Find sends as many statements for a number that does not exist."),
	that(requestIsAddedOnce, "Add returns the open request of the subject and kind instead of adding a second one."),
	that(requestThatIsDecidedAllowsAnother, "A request that is executing or closed does not prevent another one."),
	that(requestWithoutASubjectHasNoLimit, "Any number of requests without a subject can be open."),
	that(requestNumberIsUsedOnce, "A session that adds or appends a number that exists fails with ErrConflict."),
	that(requestIsAddedByOneOfSeveralSessions, "If several sessions add such a request at the same time, one adds it."),
	that(requestOrderIsThatOfIntake,
		"Requests are in the order in which they were added and appended, and events of their session in theirs."),
	that(requestIsReadByItsOwnSession, "Each method includes the requests that the session has appended."),
	that(requestIsStoredWithItsSession, "A rollback and a rehearsal leave no change of the register."),
	that(requestIsReplacedByItsNextVersion, "Update returns ErrConflict unless the stored version is the preceding one."),
	that(requestKeepsItsOrigin, "Update never changes the kind, the instants of receipt and entry, and the intake."),
	that(requestUpdateLeavesOneOpen,
		"Update returns ErrConflict if the subject would have two open requests of the kind."),
	that(requestRaceHasOneWinner,
		"Of a withdrawal and an execution, the one that commits first wins, and the other one leaves nothing."),
	that(requestIsUpdatedByOneOfSeveralSessions, "Of several sessions that update a version, one commits."),
	that(requestWaitsForAnErasure,
		"Each change of a subject's requests and holds waits for an erasure, and an erasure waits for it."),
	that(requestOfAnEarlierLifeIsNotShown,
		"After an erasure, Of and Entered leave out all earlier requests. Find, List and Open do not."),
	that(requestAfterALifeIsNotShownToTheNext,
		"A request that is added or assigned after the end of a life is not shown to a person who registers later."),
	that(requestsAreDividedByARegistration, "Register divides the requests of an id, also if it was never erased."),
	that(requestsAreNotDividedByARollback, "An erasure or a registration that is rolled back divides no requests."),
	that(requestsThatTheSubjectMadeAreCounted,
		"Entered counts what the subject has made since an instant, without what was only recorded with its act."),
	that(requestStandingIsReadWithoutALock, "Standing does not wait for a session that holds the lock of the subject."),
	that(requestStandingAfterAnExportIsTheSame, "Standing returns the same in a session that has called Export."),
	that(requestStandingAfterALockIsComplete,
		"Standing after Lock has each hold and request that was committed before the lock was there."),
	that(requestListIsInOrder,
		"List returns what is due first, what was closed last, or all of a subject or reference in the order of intake."),
	that(requestListIsFiltered, "List returns only requests that the query selects."),
	that(requestPagesHaveNoGap, "Pages have each request once, also if other requests change between them."),
	that(requestListRefusesAQuery, "List returns ErrInvalid for a wrong limit, and for two of its three selections."),
	that(requestCountsHaveTheirBounds, "Counts counts open requests by their due instants, the bounds included."),
	that(requestNumbersAreLimited, "Of and List return at most MaxPage requests, and no count is above MaxCount."),
	that(requestPurgeDeletesTheOldest,
		"Purge deletes the oldest closed requests up to the limit, and none of a subject with a hold."),
}

// requestsUnderTest is a store with helper methods for requests and holds.
type requestsUnderTest struct{ lifeUnderTest }

func (h StoreHarness) requests(t testing.TB) requestsUnderTest {
	t.Helper()
	return requestsUnderTest{lifeUnderTest{shopUnderTest{h.open(t)}}}
}

// use calls fn with the register of a session.
func (s requestsUnderTest) use(t testing.TB, fn func(context.Context, ports.Register) error) {
	t.Helper()
	err := s.tryUse(t, fn)
	must(t, err == nil, "the session failed: %v", err)
}

func (s requestsUnderTest) tryUse(t testing.TB, fn func(context.Context, ports.Register) error) error {
	t.Helper()
	return try(t, s.Store, func(ctx context.Context, session ports.Session) error { return fn(ctx, session.Register()) })
}

// add adds the requests in one session: those that are open with Add, and the others with Append.
func (s requestsUnderTest) add(t testing.TB, requests ...request.Request) {
	t.Helper()
	s.use(t, func(ctx context.Context, r ports.Register) error { return addAll(ctx, r, requests...) })
}

func addAll(ctx context.Context, r ports.Register, requests ...request.Request) error {
	for _, one := range requests {
		if !one.State.IsOpen() {
			if err := r.Requests.Append(ctx, one); err != nil {
				return err
			}
			continue
		}
		standing, added, err := r.Requests.Add(ctx, one)
		switch {
		case err != nil:
			return err
		case !added || standing.Number != one.Number:
			return fmt.Errorf("request %s was not added, and %s stands", short(one.Number), short(standing.Number))
		}
	}
	return nil
}

func (s requestsUnderTest) update(t testing.TB, requests ...request.Request) {
	t.Helper()
	s.use(t, func(ctx context.Context, r ports.Register) error {
		for _, changed := range requests {
			if err := r.Requests.Update(ctx, changed); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s requestsUnderTest) find(t testing.TB, n int) *request.Request {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) (*request.Request, error) {
		return session.Register().Requests.Find(ctx, nth(n))
	})
}

func (s requestsUnderTest) list(t testing.TB, query request.Query) []request.Request {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) ([]request.Request, error) {
		return session.Register().Requests.List(ctx, query)
	})
}

func (s requestsUnderTest) of(t testing.TB, id domain.SubjectID) []request.Request {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) ([]request.Request, error) {
		return session.Register().Requests.Of(ctx, id)
	})
}

// standing reads the situation of the subject, with what it has made since noon.
func (s requestsUnderTest) standing(t testing.TB, id domain.SubjectID) request.Standing {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) (request.Standing, error) {
		return session.Register().Requests.Standing(ctx, id, noon)
	})
}

func (s requestsUnderTest) hold(t testing.TB, holds ...request.Hold) {
	t.Helper()
	s.use(t, func(ctx context.Context, r ports.Register) error {
		for _, hold := range holds {
			if err := r.Holds.Add(ctx, hold); err != nil {
				return err
			}
		}
		return nil
	})
}

// nth returns a number that short shows as n.
func nth(n int) request.Number { return request.Number(fmt.Sprintf("%020d", n)) }

func short(n request.Number) string { return strings.TrimLeft(string(n), "0") }

// numbers returns the numbers of the requests, with spaces between them.
func numbers(requests []request.Request) string {
	var all []string
	for _, r := range requests {
		all = append(all, short(r.Number))
	}
	return strings.Join(all, " ")
}

func expectNumbers(t testing.TB, what string, got []request.Request, want string) {
	t.Helper()
	assert(t, numbers(got) == want, "%s: got the requests [%s], want [%s]", what, numbers(got), want)
}

// edit changes a request that a case makes.
type edit func(*request.Request)

// asks returns an open request for access by the signed-in subject, or by somebody who is not known yet if id is zero.
func asks(n int, id domain.SubjectID, edits ...edit) request.Request {
	r := request.Request{
		Number: nth(n), SubjectID: id, Kind: request.Access, State: request.Received, Channel: request.SelfService,
		ReceivedAt: noon, EnteredAt: noon, DueOn: "2024-03-29", DueAt: noon.AddDate(0, 1, 0), StrictDueOn: "2024-03-29",
		Version: 1,
	}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// nextVersion returns the request in its next version.
func nextVersion(r request.Request, edits ...edit) request.Request {
	r.Version++
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

func ofKind(kind request.Kind) edit { return func(r *request.Request) { r.Kind = kind } }

func dueAt(at time.Time) edit { return func(r *request.Request) { r.DueAt = at } }

// inState puts a request into a state that it has since a number of seconds after noon.
func inState(state request.State, seconds int) edit {
	return func(r *request.Request) {
		r.State = state
		switch {
		case state.IsClosed():
			r.ClosedAt = after(seconds)
		case state == request.Awaiting:
			r.StateReason, r.Asked = string(request.Identity), []request.Reason{request.Identity}
			r.SuspendedAt, r.LapsesAt, r.DueAt = after(seconds), after(seconds+3600), time.Time{}
		case state == request.Scheduled, state == request.OnHold:
			r.ExecuteAfter = after(seconds)
		}
	}
}

// addOne calls Add in a session.
func (s requestsUnderTest) addOne(t testing.TB, r request.Request) (standing request.Request, added bool) {
	t.Helper()
	s.use(t, func(ctx context.Context, register ports.Register) (err error) {
		standing, added, err = register.Requests.Add(ctx, r)
		return err
	})
	return standing, added
}
