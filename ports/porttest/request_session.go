package porttest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// registerReadings are the methods that read what the register has of a subject, and what is not closed.
var registerReadings = map[string]func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error){
	"Find": func(ctx context.Context, r ports.Register, _ domain.SubjectID) (any, error) {
		return r.Requests.Find(ctx, nth(1))
	},
	"Of": func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error) {
		return r.Requests.Of(ctx, id)
	},
	"Standing": func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error) {
		return r.Requests.Standing(ctx, id, noon)
	},
	"List": func(ctx context.Context, r ports.Register, _ domain.SubjectID) (any, error) {
		return r.Requests.List(ctx, request.Query{Limit: request.MaxPage})
	},
	"List of closed requests": func(ctx context.Context, r ports.Register, _ domain.SubjectID) (any, error) {
		return r.Requests.List(ctx, request.Query{Closed: true, Limit: request.MaxPage})
	},
	"Counts": func(ctx context.Context, r ports.Register, _ domain.SubjectID) (any, error) {
		return r.Requests.Counts(ctx, noon)
	},
	"holds": func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error) {
		return r.Holds.Of(ctx, id)
	},
	"a hold": func(ctx context.Context, r ports.Register, _ domain.SubjectID) (any, error) {
		return r.Holds.Find(ctx, "1")
	},
	"reviews": func(ctx context.Context, r ports.Register, _ domain.SubjectID) (any, error) {
		return r.Holds.List(ctx, after(7200), 9)
	},
}

// contentsOf returns the results of all registerReadings.
func contentsOf(ctx context.Context, r ports.Register, id domain.SubjectID) (map[string]any, error) {
	all := map[string]any{}
	for what, read := range registerReadings {
		result, err := read(ctx, r, id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		all[what] = result
	}
	return all, nil
}

func (s requestsUnderTest) contents(t testing.TB, id domain.SubjectID) map[string]any {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) (map[string]any, error) {
		return contentsOf(ctx, session.Register(), id)
	})
}

// registerWrite changes what the register has of a subject, after prepare was called with the same number.
type registerWrite struct {
	what string
	run  func(ctx context.Context, r ports.Register, id domain.SubjectID, n int) error
}

var registerWrites = []registerWrite{
	{"Add", func(ctx context.Context, r ports.Register, id domain.SubjectID, n int) error {
		return addAll(ctx, r, asks(n, id))
	}},
	{"Append", func(ctx context.Context, r ports.Register, id domain.SubjectID, n int) error {
		return addAll(ctx, r, asks(n, id, inState(request.Refused, 0)))
	}},
	{"Update", func(ctx context.Context, r ports.Register, id domain.SubjectID, n int) error {
		return r.Requests.Update(ctx, nextVersion(asks(n+1, id, ofKind(request.Erasure))))
	}},
	{"a new hold", func(ctx context.Context, r ports.Register, id domain.SubjectID, n int) error {
		return r.Holds.Add(ctx, holdOf("new"+short(nth(n)), id))
	}},
	{"a lift", func(ctx context.Context, r ports.Register, id domain.SubjectID, n int) error {
		return r.Holds.Update(ctx, lifted(holdOf(short(nth(n)), id)))
	}},
}

func (s requestsUnderTest) prepare(t testing.TB, id domain.SubjectID, n int) {
	t.Helper()
	s.add(t, asks(n+1, id, ofKind(request.Erasure)))
	s.hold(t, holdOf(short(nth(n)), id))
}

func requestIsStoredWithItsSession(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	s.prepare(t, id, 1)
	s.add(t, asks(3, domain.SubjectID{}, inState(request.Refused, 0)))
	purge := registerWrite{"Purge", func(ctx context.Context, r ports.Register, _ domain.SubjectID, _ int) error {
		return errOf(r.Requests.Purge(ctx, after(1), 1))
	}}
	for _, write := range append(registerWrites, purge) {
		before := s.contents(t, id)
		writes := func(ctx context.Context, session ports.Session) error {
			if err := write.run(ctx, session.Register(), id, 1); err != nil {
				return err
			}
			within, err := contentsOf(ctx, session.Register(), id)
			assert(t, !reflect.DeepEqual(within, before), "%s: the session does not see its change", write.what)
			return err
		}
		undo(t, s.Store, writes)
		err := rehearse(t, s.Store, writes)
		assert(t, err == nil, "a rehearsal of %s failed: %v", write.what, err)
		assert(t, reflect.DeepEqual(s.contents(t, id), before), "%s: a rollback or a rehearsal left a change", write.what)
	}
}

// Each method is the first one that a session calls after its appends.
func requestIsReadByItsOwnSession(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	requests := []request.Request{asks(1, id, inState(request.Executing, 0)), asks(2, id, inState(request.Refused, 0))}
	within, before := map[string]any{}, s.contents(t, id)
	for what, reading := range registerReadings {
		undo(t, s.Store, inRegister(func(ctx context.Context, r ports.Register) (err error) {
			if err = addAll(ctx, r, requests...); err == nil {
				within[what], err = reading(ctx, r, id)
			}
			return err
		}))
	}
	undo(t, s.Store, inRegister(func(ctx context.Context, r ports.Register) error {
		changed := nextVersion(requests[0], inState(request.Fulfilled, 0))
		if err := errors.Join(addAll(ctx, r, requests...), r.Requests.Update(ctx, changed)); err != nil {
			return err
		}
		purged, err := r.Requests.Purge(ctx, after(1), 9)
		assert(t, err != nil || purged == 2, "Purge deletes %d requests of its session, want 2", purged)
		return err
	}))
	s.add(t, requests...)
	for what, committed := range s.contents(t, id) {
		assert(t, reflect.DeepEqual(within[what], committed),
			"%s: the session that has appended requests reads %+v, want %+v", what, within[what], committed)
		ofHolds := strings.Contains(what, "hold") || what == "reviews"
		assert(t, ofHolds || !reflect.DeepEqual(before[what], committed), "%s does not change with new requests", what)
	}
}
