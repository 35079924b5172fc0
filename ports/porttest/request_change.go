package porttest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

func requestIsAddedOnce(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	first := asks(1, id)
	for i, state := range []request.State{request.Received, request.Awaiting, request.Scheduled, request.OnHold} {
		if i == 0 {
			s.add(t, first)
		} else {
			first = nextVersion(first, inState(state, 0))
			s.update(t, first)
		}
		standing, added := s.addOne(t, asks(10+i, id))
		assert(t, !added && standing.Number == first.Number && standing.State == state && standing.Version == first.Version,
			"while a request is %s, another one is added: %v, and %+v stands", state, added, standing)
		assert(t, s.find(t, 10+i) == nil, "a request was added while another one is %s", state)
	}
	for i, other := range []request.Request{asks(20, id, ofKind(request.Portability)), asks(21, others[0].id(t))} {
		standing, added := s.addOne(t, other)
		assert(t, added && standing.Number == other.Number, "request %d of another kind or subject was not added", i)
	}
}

func requestThatIsDecidedAllowsAnother(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	states := []request.State{
		request.Executing, request.Fulfilled, request.Refused, request.Withdrawn, request.Lapsed,
	}
	for i, state := range states {
		s.add(t, asks(2*i+1, id, inState(state, 0)))
		open := asks(2*i+2, id)
		s.add(t, open)
		s.update(t, nextVersion(open, inState(state, 0)))
	}
	expectNumbers(t, "what the subject asked", s.of(t, id), "10 9 8 7 6 5 4 3 2 1")
}

func requestWithoutASubjectHasNoLimit(t testing.TB, h StoreHarness) {
	s, nobody := h.requests(t), domain.SubjectID{}
	s.add(t, asks(1, nobody), asks(2, nobody), asks(3, nobody, inState(request.Awaiting, 0)))
	expectNumbers(t, "the open requests", s.list(t, request.Query{Limit: 9}), "1 2 3")
}

func requestNumberIsUsedOnce(t testing.TB, h StoreHarness) {
	s := h.requests(t)
	taken := asks(1, zoe.id(t))
	s.add(t, taken)
	for _, again := range []request.Request{
		asks(1, domain.SubjectID{}), asks(1, others[0].id(t)), asks(1, others[0].id(t), inState(request.Refused, 0)),
	} {
		err := s.tryUse(t, func(ctx context.Context, r ports.Register) error { return addAll(ctx, r, again) })
		isError(t, "a number that exists, "+string(again.State), err, domain.ErrConflict)
	}
	found := s.find(t, 1)
	assert(t, found != nil && found.SubjectID == taken.SubjectID, "the request with the number has changed")
}

// several is the number of sessions that change the same request concurrently.
const several = 8

// storm calls fn in several sessions at the same time, and returns their errors.
func (s requestsUnderTest) storm(
	t testing.TB, fn func(ctx context.Context, session ports.Session, i int) error,
) (errs [several]error) {
	t.Helper()
	var running sync.WaitGroup
	for i := range several {
		running.Go(func() {
			errs[i] = try(t, s.Store, func(ctx context.Context, session ports.Session) error { return fn(ctx, session, i) })
		})
	}
	running.Wait()
	return errs
}

func requestIsAddedByOneOfSeveralSessions(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	var standing [several]request.Request
	var added [several]bool
	errs := s.storm(t, func(ctx context.Context, session ports.Session, i int) (err error) {
		standing[i], added[i], err = session.Register().Requests.Add(ctx, asks(i+1, id))
		return err
	})
	open := s.standing(t, id).Open
	must(t, len(open) == 1, "%d sessions have added %d open requests", several, len(open))
	for i, err := range errs {
		assert(t, err == nil && standing[i].Number == open[0].Number && added[i] == (open[0].Number == nth(i+1)),
			"a session got the request %s, added: %v, while %s stands: %v", short(standing[i].Number), added[i],
			short(open[0].Number), err)
	}
}

func requestIsUpdatedByOneOfSeveralSessions(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	first := asks(1, id)
	s.add(t, first)
	errs := s.storm(t, func(ctx context.Context, session ports.Session, i int) error {
		if err := session.Audit().Append(ctx, event(strconv.Itoa(i), id)); err != nil {
			return err
		}
		return session.Register().Requests.Update(ctx, nextVersion(first, func(r *request.Request) { r.Attempts = i + 1 }))
	})
	winner := strconv.Itoa(s.find(t, 1).Attempts - 1)
	for i, err := range errs {
		if strconv.Itoa(i) == winner {
			assert(t, err == nil, "the session that has updated the request failed: %v", err)
			continue
		}
		isError(t, "another session", err, domain.ErrConflict)
	}
	expectRecords(t, "the trail", eventID, trail(t, s.Store, id), event(winner, id))
}

// The requests have kinds that are not open twice. The subject is the last one whose id is in the events.
func requestOrderIsThatOfIntake(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		for i, r := range []request.Request{
			asks(5, id, inState(request.Refused, 5)), asks(2, id), asks(4, id, inState(request.Executing, 0)),
			asks(1, id, inState(request.Fulfilled, -9)), asks(3, id, ofKind(request.Portability)),
			asks(6, id, inState(request.Fulfilled, 0)),
		} {
			r.ReceivedAt, r.EnteredAt = after(-i), after(-i)
			err := errors.Join(addAll(ctx, session.Register(), r),
				session.Audit().Append(ctx, event("event-"+strconv.Itoa(i), id)))
			if err != nil {
				return err
			}
		}
		return nil
	})
	s.add(t, asks(7, id, ofKind(request.Erasure)))
	s.update(t, nextVersion(asks(2, id)))
	expectNumbers(t, "what the subject sees", s.of(t, id), "7 6 3 1 4 2 5")
	expectNumbers(t, "the list", s.list(t, request.Query{SubjectID: id, Limit: 9}), "5 2 4 1 3 6 7")
	expectNumbers(t, "what is open", s.standing(t, id).Open, "2 3 7")
	var events []string
	for _, e := range trail(t, s.Store, id) {
		events = append(events, e.EventID)
	}
	for i, name := range events {
		assert(t, name == "event-"+strconv.Itoa(i), "the events are %v", events)
	}
	assert(t, len(events) == 6, "the session has stored %d events", len(events))
}

func requestIsReplacedByItsNextVersion(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	first := asks(1, id)
	s.add(t, first)
	s.update(t, nextVersion(first, inState(request.Awaiting, 0)))
	for _, version := range []int64{1, 2, 4, 0, -1} {
		changed := first
		changed.Version = version
		err := s.tryUse(t, func(ctx context.Context, r ports.Register) error { return r.Requests.Update(ctx, changed) })
		isError(t, "version "+strconv.FormatInt(version, 10)+" after version 2", err, domain.ErrConflict)
	}
	for _, version := range []int64{1, 2} {
		unknown := asks(9, id, ofKind(request.Erasure), func(r *request.Request) { r.Version = version })
		err := s.tryUse(t, func(ctx context.Context, r ports.Register) error { return r.Requests.Update(ctx, unknown) })
		isError(t, "a request that does not exist", err, domain.ErrConflict)
	}
	err := s.tryUse(t, func(ctx context.Context, r ports.Register) error {
		isError(t, "a version of before", r.Requests.Update(ctx, first), domain.ErrConflict)
		return nil
	})
	assert(t, err == nil, "a session cannot go on after a stale version: %v", err)
	found := s.find(t, 1)
	assert(t, found.Version == 2 && found.State == request.Awaiting, "after refused updates, the request is %+v", found)
	s.update(t, nextVersion(*found, inState(request.Withdrawn, 0)))
	assert(t, s.find(t, 1).State == request.Withdrawn && s.find(t, 1).Version == 3, "the request was not updated twice")
}

func requestKeepsItsOrigin(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	first := asks(1, domain.SubjectID{})
	s.add(t, first, asks(2, domain.SubjectID{}), asks(3, id, ofKind(request.Portability)))
	s.update(t, nextVersion(first, ofKind(request.Erasure), func(r *request.Request) {
		r.SubjectID, r.ReceivedAt, r.EnteredAt = id, after(60), after(70)
	}))
	found := s.find(t, 1)
	assert(t, found.Kind == request.Access && found.ReceivedAt.Equal(noon) && found.EnteredAt.Equal(noon),
		"an update changed where the request comes from: %+v", found)
	expectNumbers(t, "what the subject sees", s.of(t, id), "3 1")
}

func requestUpdateLeavesOneOpen(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	unknown, executing := asks(1, domain.SubjectID{}), asks(2, id, inState(request.Executing, 0))
	open, other := asks(3, id), asks(4, id, ofKind(request.Portability))
	s.add(t, unknown, executing, open, other)
	assigned := nextVersion(unknown, func(r *request.Request) { r.SubjectID = id })
	for what, changed := range map[string]request.Request{
		"assigning":     assigned,
		"opening again": nextVersion(executing, inState(request.Scheduled, 0)),
	} {
		err := s.tryUse(t, func(ctx context.Context, r ports.Register) error { return r.Requests.Update(ctx, changed) })
		isError(t, what+" a second open request", err, domain.ErrConflict)
	}
	s.update(t, nextVersion(executing, inState(request.Fulfilled, 0)), nextVersion(other),
		nextVersion(open, inState(request.Executing, 0)), assigned)
	expectNumbers(t, "what is open", s.standing(t, id).Open, "1 4")
}
