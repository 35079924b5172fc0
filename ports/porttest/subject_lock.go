package porttest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func subjectLockExcludesOtherSessions(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	id := zoe.id(t)
	for _, how := range []struct {
		ends string
		with error
	}{{"commits", nil}, {"rolls back", errUndo}} {
		locked := make(chan struct{})
		lock, ended := concurrently(func() {
			notify := sync.OnceFunc(func() { close(locked) })
			err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
				_, err := subjects.Lock(ctx, id, noon.Add(tick))
				if err == nil {
					notify()
				}
				return err
			})
			assert(t, err == nil, "the second session failed after the first session %s: %v", how.ends, err)
		})
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			if _, err := subjects.Lock(ctx, id, noon); err != nil {
				return err
			}
			lock()
			if _, ok := receiveWithin(locked, moment); ok {
				t.Errorf("another session has locked the subject before the first session %s", how.ends)
			}
			return how.with
		})
		ended()
		assert(t, errors.Is(err, how.with), "want the first session to end with %v, got %v", how.with, err)
	}
}

func subjectCanBeLockedAgain(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	for i := range 3 { // a new subject, a subject that was locked before, and an erased subject
		for _, who := range []customer{zoe, others[1], {"nobody", 7, 900_000}} {
			s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
				_, err := subjects.Lock(ctx, who.id(t), noon.Add(time.Duration(i)*time.Hour))
				assert(t, err == nil, "locking for the %dth time failed: %v", i+1, err)
				return err
			})
		}
		s.apply(t, zoe, erasurePlan(t)...)
	}
}

func subjectLockLeavesAMark(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	requireHook(t, s.Erased != nil, "Erased")
	s.rectify(t, zoe, rectifies("people", "email", "right"))
	_, marked := s.Erased(t, zoe.id(t))
	assert(t, !marked, "a rectification left the mark of an erasure")
	for _, at := range []time.Time{noon, noon.Add(time.Hour)} {
		s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return errOf(subjects.Lock(ctx, zoe.id(t), at))
		})
		last, marked := s.Erased(t, zoe.id(t))
		assert(t, marked && last.Equal(at), "an erasure left no mark, or a mark with another instant")
	}
	_, marked = s.Erased(t, others[0].id(t))
	assert(t, !marked, "another subject has the mark of an erasure")
}

// expectState checks the SubjectState that LockToRectify returns for the customer. It expects the mark of the last
// erasure and the evidence from which Life follows.
func (s shopUnderTest) expectState(t testing.TB, what string, who customer, want domain.SubjectState) {
	t.Helper()
	got := s.stateOf(t, who)
	assert(t, got.Present == want.Present && got.Life == want.Life,
		"the state of a subject that %s is %+v, want %+v", what, got, want)
	mark := read(t, s.Store, func(ctx context.Context, session ports.Session) (mark domain.ErasureMark, err error) {
		found, err := session.Erased().Find(ctx, []domain.SubjectID{who.id(t)})
		if len(found) > 0 {
			mark = found[0]
		}
		return mark, err
	})
	if got.Mark.Erasures == 0 { // a mark that only divides the ledgers is in no list
		got.Mark = domain.ErasureMark{}
	}
	assert(t, got.Mark == mark, "the state of a subject that %s has the mark %+v, want %+v", what, got.Mark, mark)
	assert(t, got.Evidence.Present == got.Present && got.Mark.Life(got.Evidence) == got.Life,
		"the life of a subject that %s does not follow from the evidence %+v", what, got.Evidence)
}

func (s shopUnderTest) stateOf(t testing.TB, who customer) domain.SubjectState {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) (domain.SubjectState, error) {
		return session.Subjects().LockToRectify(ctx, who.id(t))
	})
}

func subjectLockToRectifyKnowsErasures(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	stranger := customer{"nobody", 7, 900_000}
	for range 2 { // a lock must not change the state
		s.expectState(t, "was never erased", zoe, domain.SubjectState{Present: true})
		s.expectState(t, "has no rows", stranger, domain.SubjectState{})
	}
	for _, who := range []customer{zoe, stranger} {
		s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return errOf(subjects.Lock(ctx, who.id(t), noon))
		})
	}
	s.expectState(t, "was erased", zoe, domain.SubjectState{Present: true, Life: domain.LifeUnknown})
	s.expectState(t, "was erased and has no rows", stranger, domain.SubjectState{Life: domain.LifeEnded})
	s.expectState(t, "is not the one that was erased", others[0], domain.SubjectState{Present: true})
}

// An erasure waits for a rectification of the same subject, and a rectification waits for an erasure.
func subjectLockToRectifyExcludesErasures(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	lock := func(ctx context.Context, subjects ports.SubjectStore) error {
		return errOf(subjects.Lock(ctx, zoe.id(t), noon))
	}
	hold := func(ctx context.Context, subjects ports.SubjectStore) error {
		return errOf(subjects.LockToRectify(ctx, zoe.id(t)))
	}
	type locking func(context.Context, ports.SubjectStore) error
	for name, pair := range map[string][2]locking{
		"a rectification and an erasure": {hold, lock}, "an erasure and a rectification": {lock, hold},
		"two rectifications": {hold, hold},
	} {
		locked := make(chan struct{})
		second, ended := concurrently(func() {
			notify := sync.OnceFunc(func() { close(locked) })
			err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
				err := pair[1](ctx, subjects)
				if err == nil {
					notify()
				}
				return err
			})
			assert(t, err == nil, "%s: the second session failed: %v", name, err)
		})
		s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			if err := pair[0](ctx, subjects); err != nil {
				return err
			}
			second()
			if _, ok := receiveWithin(locked, moment); ok {
				t.Errorf("%s hold the lock of the subject concurrently", name)
			}
			return nil
		})
		ended()
	}
}
