package porttest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

func requestsThatTheSubjectMadeAreCounted(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	by := func(channel request.Channel) edit { return func(r *request.Request) { r.Channel = channel } }
	entered := func(seconds int) edit { return func(r *request.Request) { r.EnteredAt = after(seconds) } }
	withdrawn := asks(1, id)
	s.add(t, withdrawn)
	s.update(t, nextVersion(withdrawn, inState(request.Withdrawn, 1)))
	counted := 1
	for i, made := range []struct {
		counts bool
		r      request.Request
	}{
		{true, asks(2, id)},
		{true, asks(3, id, ofKind(request.Portability), func(r *request.Request) { r.ReceivedAt = after(-60) })},
		{false, asks(4, id, ofKind(request.Restriction), entered(-1))},
		{false, asks(5, id, ofKind(request.Objection), by(request.Operator))},
		{false, asks(6, id, ofKind(request.Rectification), by(request.Agent))},
		{false, asks(7, id, inState(request.Fulfilled, 1))},
		{true, asks(8, id, inState(request.Executing, 1))},
		{true, asks(9, id, ofKind(request.Erasure), inState(request.Fulfilled, 1))},
		{false, asks(10, id, ofKind(request.Erasure), inState(request.Fulfilled, 1), entered(-1))},
		{false, asks(11, id, ofKind(request.Erasure), inState(request.Fulfilled, 1), by(request.Operator))},
		{false, asks(12, others[0].id(t))},
	} {
		s.add(t, made.r)
		if made.counts {
			counted++
		}
		got := s.standing(t, id).Entered
		must(t, got == counted, "after request %d of the case, %d are entered, want %d", i+2, got, counted)
	}
}

// A store may make readers wait for a session that writes, but then it fails no case with the lock alone.
func requestStandingIsReadWithoutALock(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	s.add(t, asks(1, id))
	plain, standings := make(chan error, 1), make(chan error, 1)
	begin, end := concurrently(func() {
		plain <- try(t, s.Store, func(ctx context.Context, session ports.Session) error {
			return errOf(session.Consents().History(ctx, id, "news"))
		})
		standings <- try(t, s.Store, func(ctx context.Context, session ports.Session) error {
			return errOf(session.Register().Requests.Standing(ctx, id, noon))
		})
	})
	defer end()
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		if _, err := session.Subjects().Lock(ctx, id, noon); err != nil {
			return err
		}
		begin()
		if _, read := receiveWithin(plain, grace); read { // otherwise the store makes all readers wait
			_, read = receiveWithin(standings, h.patience()/2)
			assert(t, read, "Standing waits for a session that holds the lock of the subject")
		}
		return nil
	})
}

// The erasing session begins before the others, and waits for the last one.
func requestStandingAfterALockIsComplete(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	var standing request.Standing
	opened, added := make(chan struct{}, several), make(chan struct{})
	begin, end := concurrently(func() {
		err := try(t, s.Store, func(ctx context.Context, session ports.Session) (err error) {
			opened <- struct{}{}
			<-added
			if _, err = session.Subjects().Lock(ctx, id, noon); err == nil {
				standing, err = session.Register().Requests.Standing(ctx, id, noon)
			}
			return errors.Join(err, errUndo)
		})
		assert(t, errors.Is(err, errUndo), "the erasing session ended with: %v", err)
	})
	defer end()
	begin()
	<-opened
	s.add(t, asks(1, id))
	do(t, s.Store, inRegister(func(ctx context.Context, r ports.Register) error {
		err := errors.Join(r.Holds.Add(ctx, holdOf("late", id)), addAll(ctx, r, asks(2, id, ofKind(request.Erasure))))
		close(added)
		receiveWithin(opened, moment) // the other session waits for the lock meanwhile
		return err
	}))
	end()
	open := slices.Clone(standing.Open)
	assert(t, standing.Held, "a hold that was committed before the lock is not seen after it")
	expectNumbers(t, "after the lock", open, "1 2")
}

// A store may return what the export has read. It need not count then, if the instant is zero.
func requestStandingAfterAnExportIsTheSame(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	s.register(t, noon)
	full := full(t, 1, id, `"\ \u0000 <&> {}'`+"\x01\u2028\u65e5\U0001F600")
	full.State, full.ClosedAt = request.Scheduled, time.Time{}
	s.add(t, full, asks(2, id, inState(request.Awaiting, 0)), asks(3, others[0].id(t)))
	s.hold(t, holdOf("1", id))
	for _, since := range []time.Time{noon, {}} {
		for _, of := range []domain.SubjectID{id, others[0].id(t)} {
			reads := func(ctx context.Context, session ports.Session) (request.Standing, error) {
				return session.Register().Requests.Standing(ctx, of, since)
			}
			want := read(t, s.Store, reads)
			do(t, s.Store, func(ctx context.Context, session ports.Session) error {
				err := session.Subjects().Export(ctx, id, func(domain.ExportRecord) error { return nil })
				if err != nil {
					return err
				}
				got, err := reads(ctx, session)
				if since.IsZero() {
					got.Entered = want.Entered
				}
				assert(t, reflect.DeepEqual(got, want), "Standing after an export is %+v, want %+v", got, want)
				return err
			})
		}
	}
	undo(t, s.Store, func(ctx context.Context, session ports.Session) error {
		err := session.Subjects().Export(ctx, id, func(domain.ExportRecord) error { return nil })
		if err == nil {
			err = session.Register().Holds.Update(ctx, lifted(holdOf("1", id)))
		}
		standing, standingErr := session.Register().Requests.Standing(ctx, id, time.Time{})
		assert(t, !standing.Held, "a hold that the session has lifted after an export stands")
		return errors.Join(err, standingErr)
	})
}
