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

// eraseLocked locks customer number in a session, and returns the instant that Lock returns.
func (m marksStore) eraseLocked(t testing.TB, number int64, at time.Time) time.Time {
	t.Helper()
	return read(t, m.Store, func(ctx context.Context, s ports.Session) (time.Time, error) {
		return s.Subjects().Lock(ctx, subject(t, "acme", number), at)
	})
}

// The clocks of the processes that erase are wrong by hours. The case allows for a machine whose clock differs from
// that of the database by a minute.
func markHasTheInstantOfTheStore(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	began, last := now().Add(-time.Minute), time.Time{}
	for number, skew := range []time.Duration{5 * time.Hour, -5 * time.Hour, 0, 20 * time.Hour, -20 * time.Hour} {
		id := int64(number)
		locked := m.eraseLocked(t, id, now().Add(skew))
		marks := m.list(t, everyMark)
		must(t, len(marks) == number+1, "%d erasures have %d marks", number+1, len(marks))
		at := marks[number].ErasedAt
		assert(t, at.After(began) && at.Before(now().Add(time.Minute)),
			"with a clock that is wrong by %v, the instant of the mark is %v", skew, at)
		assert(t, !at.Before(last), "the instant of a mark is before that of an earlier mark")
		assert(t, locked.Equal(at), "Lock returns %v, but the instant of the mark is %v", locked, at)
		last = at
	}
	locked := m.eraseLocked(t, 9, noon)
	assert(t, locked.Equal(noon), "for an instant years ago, Lock returns %v", locked)
}

func markRecallsARow(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	s := lifeUnderTest{shopUnderTest(m)}
	// erase erases zoe, and returns the creation time in the mark.
	erase := func(recalled time.Time) (added time.Time) {
		t.Helper()
		do(t, s.Store, func(ctx context.Context, session ports.Session) error {
			must(t, session.Erased().RecallRow(ctx, zoe.id(t), after(50)) == nil, "RecallRow fails before Lock")
			if err := eraseWith(ctx, session, zoe.id(t), removal); err != nil {
				return err
			}
			return session.Erased().RecallRow(ctx, zoe.id(t), recalled)
		})
		for _, mark := range m.find(t, zoe.id(t)) {
			added = mark.AddedAt
		}
		return added
	}
	expect := func(what string, got, want time.Time) {
		t.Helper()
		assert(t, got.Equal(want), "%s: the creation time in the mark is %v, want %v", what, got, want)
	}
	expect("without a row", erase(after(1)), after(1))
	expect("again without a row", erase(after(2)), after(2))
	expect("without an instant", erase(time.Time{}), after(2))
	s.register(t, after(10))
	expect("of a row", erase(after(3)), after(10))
}
