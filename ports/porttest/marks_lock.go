package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// now returns the time of the machine, which is close to the time of the store.
func now() time.Time { return system.Clock{}.Now() }

// eraseLocked locks customer number in a session, and returns the instant of ports.ErasureLock. It returns false if the
// store does not implement this interface.
func (m marksStore) eraseLocked(
	t testing.TB, number int64, at time.Time, then func(context.Context, ports.ErasureLock) error,
) (instant time.Time, has bool) {
	t.Helper()
	do(t, m.Store, func(ctx context.Context, s ports.Session) error {
		var lock ports.ErasureLock
		if lock, has = s.Subjects().(ports.ErasureLock); !has {
			return nil
		}
		id := subject(t, "acme", number)
		_, locked := lock.ErasedAt(id)
		assert(t, !locked, "ErasedAt returns an instant before Lock")
		if err := s.Subjects().Lock(ctx, id, at); err != nil {
			return err
		}
		instant, locked = lock.ErasedAt(id)
		assert(t, locked, "ErasedAt returns no instant after Lock")
		_, other := lock.ErasedAt(subject(t, "acme", number+1))
		assert(t, !other, "ErasedAt returns the instant of another subject")
		return then(ctx, lock)
	})
	return instant, has
}

func onlyLock(context.Context, ports.ErasureLock) error { return nil }

// The clocks of the processes that erase are wrong by hours. The case allows for a machine whose clock differs from
// that of the database by a minute.
func markHasTheInstantOfTheStore(t testing.TB, h StoreHarness) {
	m, has := h.openMarks(t)
	if !has {
		return
	}
	began, last := now().Add(-time.Minute), time.Time{}
	for number, skew := range []time.Duration{5 * time.Hour, -5 * time.Hour, 0, 20 * time.Hour, -20 * time.Hour} {
		id := int64(number)
		locked, has := m.eraseLocked(t, id, now().Add(skew), onlyLock)
		if !has {
			return
		}
		marks := m.list(t, everyMark)
		must(t, len(marks) == number+1, "%d erasures have %d marks", number+1, len(marks))
		at := marks[number].ErasedAt
		assert(t, at.After(began) && at.Before(now().Add(time.Minute)),
			"with a clock that is wrong by %v, the instant of the mark is %v", skew, at)
		assert(t, !at.Before(last), "the instant of a mark is before that of an earlier mark")
		assert(t, locked.Equal(at), "ErasedAt returns %v, but the instant of the mark is %v", locked, at)
		last = at
	}
	locked, _ := m.eraseLocked(t, 9, noon, onlyLock)
	assert(t, locked.Equal(noon), "for an instant years ago, ErasedAt returns %v", locked)
}

func markRecallsARow(t testing.TB, h StoreHarness) {
	m, has := h.openMarks(t)
	if !has {
		return
	}
	s := lifeUnderTest{shopUnderTest(m)}
	// erase erases zoe, and returns the creation time in the mark.
	erase := func(recalled time.Time) (added time.Time) {
		t.Helper()
		do(t, s.Store, func(ctx context.Context, session ports.Session) error {
			var lock ports.ErasureLock
			if lock, has = session.Subjects().(ports.ErasureLock); !has {
				return nil
			}
			must(t, lock.RecallRow(ctx, zoe.id(t), after(50)) == nil, "RecallRow fails before Lock")
			if err := eraseWith(ctx, session, zoe.id(t), removal); err != nil {
				return err
			}
			return lock.RecallRow(ctx, zoe.id(t), recalled)
		})
		for _, mark := range m.find(t, zoe.id(t)) {
			added = mark.AddedAt
		}
		return added
	}
	expect := func(what string, got, want time.Time) {
		t.Helper()
		assert(t, !has || got.Equal(want), "%s: the creation time in the mark is %v, want %v", what, got, want)
	}
	expect("without a row", erase(after(1)), after(1))
	expect("again without a row", erase(after(2)), after(2))
	expect("without an instant", erase(time.Time{}), after(2))
	s.register(t, after(10))
	expect("of a row", erase(after(3)), after(10))
}
