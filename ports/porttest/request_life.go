package porttest

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// use is what a case does with a session.
type use = func(context.Context, ports.Session) error

// expectToWait runs first in a session, and second in another one while the first one is open. It checks that second
// does not return before the first session ends. It returns the error of the second session.
func expectToWait(t testing.TB, store Store, what string, ending error, first, second use) error {
	t.Helper()
	returned, ended := make(chan error, several), make(chan error, 1)
	begin, end := concurrently(func() {
		ended <- try(t, store, func(ctx context.Context, session ports.Session) error {
			err := second(ctx, session)
			returned <- err
			return err
		})
	})
	defer end()
	err := try(t, store, func(ctx context.Context, session ports.Session) error {
		if err := first(ctx, session); err != nil {
			return err
		}
		begin()
		err, early := receiveWithin(returned, moment)
		assert(t, !early, "%s: the second session did not wait, and had the result: %v", what, err)
		return ending
	})
	assert(t, errors.Is(err, ending), "%s: the first session ended with: %v", what, err)
	end()
	return <-ended
}

func inRegister(fn func(context.Context, ports.Register) error) use {
	return func(ctx context.Context, session ports.Session) error { return fn(ctx, session.Register()) }
}

func requestRaceHasOneWinner(t testing.TB, h StoreHarness) {
	id := zoe.id(t)
	scheduled := asks(1, id, ofKind(request.Erasure), inState(request.Scheduled, 5))
	withdraws := func(ctx context.Context, session ports.Session) error {
		return errors.Join(session.Audit().Append(ctx, event("withdrawn", id)),
			session.Register().Requests.Update(ctx, nextVersion(scheduled, inState(request.Withdrawn, 1))))
	}
	executes := func(ctx context.Context, session ports.Session) error {
		if _, err := session.Subjects().LockToRectify(ctx, id); err != nil {
			return err
		}
		return errors.Join(session.Audit().Append(ctx, event("fulfilled", id)),
			session.Register().Requests.Update(ctx, nextVersion(scheduled, inState(request.Fulfilled, 1))),
			errOf(session.Subjects().Apply(ctx, id, removal)))
	}
	for _, race := range []struct {
		what          string
		first, second use
		ending        error
		winner        request.State
	}{
		{"a withdrawal that commits", withdraws, executes, nil, request.Withdrawn},
		{"a withdrawal that rolls back", withdraws, executes, errUndo, request.Fulfilled},
		{"an execution that commits", executes, withdraws, nil, request.Fulfilled},
		{"an execution that rolls back", executes, withdraws, errUndo, request.Withdrawn},
	} {
		s := h.requests(t)
		s.register(t, noon)
		s.add(t, scheduled)
		err := expectToWait(t, s.Store, race.what, race.ending, race.first, race.second)
		if race.ending == nil {
			isError(t, "the session after "+race.what, err, domain.ErrConflict)
		} else {
			assert(t, err == nil, "the session after %s failed: %v", race.what, err)
		}
		found, left := s.find(t, 1), len(s.Rows(t, "people"))
		assert(t, found.State == race.winner && found.Version == 2, "after %s, the request is %+v", race.what, found)
		assert(t, (left == 0) == (race.winner == request.Fulfilled), "after %s, the subject has %d rows", race.what, left)
		expectRecords(t, "the trail after "+race.what, eventID, trail(t, s.Store, id), event(string(race.winner), id))
	}
}

func requestWaitsForAnErasure(t testing.TB, h StoreHarness) {
	s := h.requests(t)
	for i, write := range registerWrites {
		for j, what := range []string{"an erasure and " + write.what, write.what + " and an erasure"} {
			n := 100*i + 10*j + 1
			id := subject(t, "acme", int64(n))
			s.prepare(t, id, n)
			pair := []use{
				func(ctx context.Context, session ports.Session) error {
					return errOf(session.Subjects().Lock(ctx, id, noon))
				},
				inRegister(func(ctx context.Context, r ports.Register) error {
					err := write.run(ctx, r, id, n)
					return errors.Join(err, errOf(r.Requests.Of(ctx, id))) // sends what is appended
				}),
			}
			err := expectToWait(t, s.Store, what, nil, pair[j], pair[1-j])
			assert(t, err == nil, "%s: the second session failed: %v", what, err)
		}
	}
}

// expectShown checks the requests of zoe that Of returns, how many of them Entered counts, and which are open.
func (s requestsUnderTest) expectShown(t testing.TB, what, own string, entered int, open string) {
	t.Helper()
	standing := s.standing(t, zoe.id(t))
	expectNumbers(t, what+": Of", s.of(t, zoe.id(t)), own)
	expectNumbers(t, what+": Standing", standing.Open, open)
	assert(t, standing.Entered == entered, "%s: %d requests are entered, want %d", what, standing.Entered, entered)
}

// The session of the erasure records its own request. A purge gives no number of intake again.
func requestOfAnEarlierLifeIsNotShown(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	another := asks(99, others[0].id(t))
	s.register(t, noon)
	s.add(t, another, asks(1, id), asks(2, id, ofKind(request.Portability)))
	s.expectShown(t, "before the erasure", "2 1", 2, "1 2")
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return errors.Join(eraseWith(ctx, session, id, removal),
			addAll(ctx, session.Register(), asks(3, id, ofKind(request.Erasure), inState(request.Executing, 0))))
	})
	s.expectShown(t, "after the erasure", "", 0, "1 2")
	s.register(t, after(10))
	s.expectShown(t, "for the next person", "", 0, "1 2")
	expectNumbers(t, "all lives", s.list(t, request.Query{SubjectID: id, Limit: 9}), "1 2 3")
	for n := range 3 {
		assert(t, s.find(t, n+1) != nil, "request %d of an earlier life is not found", n+1)
	}
	s.update(t, nextVersion(asks(1, id), inState(request.Withdrawn, 0)),
		nextVersion(asks(2, id, ofKind(request.Portability)), inState(request.Withdrawn, 0)),
		nextVersion(asks(3, id, ofKind(request.Erasure)), inState(request.Fulfilled, 0)))
	s.expectShown(t, "after they were closed", "", 0, "")
	s.purge(t, after(1), 2, 2)
	s.add(t, asks(4, id))
	s.expectShown(t, "with a request of her own", "4", 1, "4")
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		if err := eraseWith(ctx, session, id, removal); err != nil {
			return err
		}
		own, err := session.Register().Requests.Of(ctx, id)
		expectNumbers(t, "in the session of the second erasure", own, "4")
		return err
	})
	s.register(t, after(20))
	s.expectShown(t, "for the third person", "", 0, "4")
	expectNumbers(t, "another subject", s.of(t, another.SubjectID), "99")
}

func requestAfterALifeIsNotShownToTheNext(t testing.TB, h StoreHarness) {
	id, unknown := zoe.id(t), asks(1, domain.SubjectID{})
	assigned := nextVersion(unknown, func(r *request.Request) { r.SubjectID = id })
	for how, add := range map[string]func(context.Context, ports.Register) error{
		"an added request": func(ctx context.Context, r ports.Register) error { return addAll(ctx, r, asks(2, id)) },
		"an appended request": func(ctx context.Context, r ports.Register) error {
			return addAll(ctx, r, asks(2, others[0].id(t)), asks(3, id, inState(request.Executing, 0)))
		},
		"an assigned request": func(ctx context.Context, r ports.Register) error { return r.Requests.Update(ctx, assigned) },
	} {
		for when, meanwhile := range map[string]bool{" after an erasure": false, " during an erasure": true} {
			s := h.requests(t)
			s.register(t, noon)
			s.add(t, unknown)
			if meanwhile {
				ended := make(chan error, 1)
				begin, end := concurrently(func() { ended <- try(t, s.Store, inRegister(add)) })
				do(t, s.Store, func(ctx context.Context, session ports.Session) error {
					err := eraseWith(ctx, session, id, removal)
					begin()
					return err
				})
				end()
				err := <-ended
				assert(t, err == nil, "%s failed: %v", how+when, err)
			} else {
				s.erase(t, removal)
				s.use(t, add)
			}
			s.register(t, after(10))
			expectNumbers(t, how+when, s.of(t, id), "")
			assert(t, s.standing(t, id).Entered == 0, "%s is counted for the next person", how+when)
		}
	}
}

func requestsAreDividedByARegistration(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	registers := func(ctx context.Context, session ports.Session) error {
		return session.Subjects().Register(ctx, id, noon)
	}
	s.register(t, nil)
	s.add(t, asks(1, id))
	do(t, s.Store, registers)
	s.expectShown(t, "without an erasure", "", 0, "1")
	s.add(t, asks(2, id, ofKind(request.Erasure)))
	s.expectShown(t, "a request of the next person", "2", 1, "1 2")
	do(t, s.Store, registers)
	s.expectShown(t, "with a mark", "", 0, "1 2")
}

func requestsAreNotDividedByARollback(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	s.register(t, noon)
	s.add(t, asks(1, id))
	for what, divides := range map[string]use{
		"an erasure": func(ctx context.Context, session ports.Session) error {
			return eraseWith(ctx, session, id, removal)
		},
		"a registration": func(ctx context.Context, session ports.Session) error {
			return session.Subjects().Register(ctx, id, noon)
		},
	} {
		undo(t, s.Store, divides)
		err := rehearse(t, s.Store, divides)
		assert(t, err == nil, "a rehearsal of %s failed: %v", what, err)
		s.expectShown(t, what+" without a commit", "1", 1, "1")
	}
}
