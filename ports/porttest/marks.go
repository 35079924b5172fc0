package porttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestErasureMarks checks that a store keeps the promises of ports.ErasedStore about the marks of erasures.
func TestErasureMarks(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, markPromises, harness, harness.Waive)
}

// markPromises are the promises about erasure marks.
var markPromises = []promise.Promise[StoreHarness]{
	that(markOfEachErasureIsListed,
		"Marks returns the marks (the records of erasures) in the order of recording, with their instants."),
	that(markOfARollbackIsNotListed, "An erasure that was rolled back has no mark."),
	that(markMovesWithAnotherErasure, "Another erasure of a subject gives its mark a new instant and a new Intake."),
	that(markPagesFollowEachOther, "Marks returns at most query.Limit marks, and only marks after query.After."),
	that(markQueriesHaveBounds, "The bound query.Since is inclusive, and query.Until is exclusive."),
	that(markThatCommitsLateIsNotMissed,
		"A mark that commits late has a greater Intake than the marks that were returned before."),
	that(markNamesTheMarkBefore, "After is the Intake of the mark before, whether the query selects that mark or not."),
	that(markHasTheCreationTimeOfTheRow,
		"A mark has the creation time of the row that the erasure found, and keeps it if there is none."),
	that(markHasTheInstantOfTheStore,
		"The instant of a mark is by the clock of the store, and Lock returns it."),
	that(markRecallsARow, "RecallRow sets the creation time of a mark, if the erasure found none."),
	that(markFollowsARaisedSequence,
		"After RaiseSequences, the next mark has a greater Intake. Calls with lower numbers change nothing."),
	that(markLivesAreThoseOfTheirRows,
		"Lives judges each mark by the row that its subject has now, in the order of the marks, and as State does."),
	that(markIsFoundByItsSubject, "Find returns the mark of each given subject that was erased."),
	that(markPositionIsKept,
		"Each reader has its own position, and Advance changes the position only if the position is the expected one."),
	that(markReaderNeedsAName, "A call with an empty or too long name of a reader returns ErrInvalid."),
}

// marksStore is a store with helper methods for erasure marks, the rows that record erasures.
type marksStore struct{ Store }

func (h StoreHarness) openMarks(t testing.TB) marksStore {
	t.Helper()
	return marksStore{h.open(t)}
}

// erase locks the customers with these numbers in one session, so that Lock writes their erasure marks. If failure is
// not nil, the session fails with this error and rolls back.
func (m marksStore) erase(t testing.TB, failure error, at time.Time, numbers ...int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), m.patience)
	defer cancel()
	err := m.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		for _, number := range numbers {
			if _, err := s.Subjects().Lock(ctx, subject(t, "acme", number), at); err != nil {
				return err
			}
		}
		return failure
	})
	must(t, failure != nil || err == nil, "an erasure failed: %v", err)
}

func (m marksStore) list(t testing.TB, query domain.MarkQuery) []domain.ErasureMark {
	t.Helper()
	return read(t, m.Store, func(ctx context.Context, s ports.Session) ([]domain.ErasureMark, error) {
		return s.Erased().Marks(ctx, query)
	})
}

// expectMarks checks erasure marks and their order. Each element of want has the form "number at time, erasures": the
// number of the customer, the time after noon, and the number of erasures. expectMarks also checks that each mark has a
// higher Intake (sequence number) than the mark before it.
func expectMarks(t testing.TB, what string, got []domain.ErasureMark, want ...string) {
	t.Helper()
	texts, last := []string(nil), int64(0)
	for _, mark := range got {
		elements := mark.SubjectID.Elements()
		texts = append(texts, fmt.Sprintf("%s at %v, %d", elements[len(elements)-1], mark.ErasedAt.Sub(noon), mark.Erasures))
		assert(t, mark.Intake > last && mark.ErasedAt.Location() == time.UTC,
			"%s: a mark has the place %d after %d, or its instant is not in UTC", what, mark.Intake, last)
		last = mark.Intake
	}
	assert(t, slices.Equal(texts, want), "%s: the marks are [%s], want [%s]", what,
		strings.Join(texts, "; "), strings.Join(want, "; "))
}

var everyMark = domain.MarkQuery{Limit: 1000}

func markOfEachErasureIsListed(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	expectMarks(t, "of no erasure", m.list(t, everyMark))
	m.erase(t, nil, after(20), 7)
	m.erase(t, nil, after(10), 9)
	do(t, m.Store, func(ctx context.Context, s ports.Session) error {
		return errOf(s.Subjects().LockToRectify(ctx, subject(t, "acme", 8)))
	})
	m.erase(t, nil, after(30), 8)
	expectMarks(t, "of three erasures", m.list(t, everyMark), "7 at 20s, 1", "9 at 10s, 1", "8 at 30s, 1")
}

func markOfARollbackIsNotListed(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	m.erase(t, nil, noon, 7)
	m.erase(t, errUndo, after(1), 7, 8)
	expectMarks(t, "after a rollback", m.list(t, everyMark), "7 at 0s, 1")
	m.erase(t, nil, after(2), 9)
	expectMarks(t, "after another erasure", m.list(t, everyMark), "7 at 0s, 1", "9 at 2s, 1")
}

func markMovesWithAnotherErasure(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	m.erase(t, nil, after(1), 7)
	m.erase(t, nil, after(2), 8)
	before := m.list(t, everyMark)
	must(t, len(before) == 2, "of two erasures there are %d marks", len(before))
	m.erase(t, nil, after(3), 7)
	expectMarks(t, "after a second erasure of the first", m.list(t, everyMark), "8 at 2s, 1", "7 at 3s, 2")
	expectMarks(t, "after the last one before", m.list(t, domain.MarkQuery{After: before[1].Intake, Limit: 10}),
		"7 at 3s, 2")
}

func markPagesFollowEachOther(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	var want []string
	for number := range int64(7) {
		m.erase(t, nil, after(int(number)), number)
		want = append(want, fmt.Sprintf("%d at %v, 1", number, time.Duration(number)*time.Second))
	}
	expectMarks(t, "with a limit of 0", m.list(t, domain.MarkQuery{}))
	expectMarks(t, "with a limit of -1", m.list(t, domain.MarkQuery{Limit: -1}))
	for limit := 1; limit <= len(want)+1; limit++ {
		var all []domain.ErasureMark
		for query := (domain.MarkQuery{Limit: limit}); ; {
			page := m.list(t, query)
			must(t, len(page) <= limit && len(all) <= len(want), "a page of up to %d has %d marks", limit, len(page))
			if len(page) == 0 {
				break
			}
			all = append(all, page...)
			query.After = page[len(page)-1].Intake
		}
		expectMarks(t, fmt.Sprintf("in pages of %d", limit), all, want...)
	}
}

func markQueriesHaveBounds(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	m.erase(t, nil, after(3), 1)
	m.erase(t, nil, after(1), 2)
	m.erase(t, nil, after(2), 3)
	// The erasure is 900 ns later than after(4). It counts as an erasure at after(4), because Marks compares whole
	// microseconds.
	m.erase(t, nil, after(4).Add(900*time.Nanosecond), 4)
	expectMarks(t, "since the second one", m.list(t, domain.MarkQuery{Since: after(2), Limit: 10}),
		"1 at 3s, 1", "3 at 2s, 1", "4 at 4s, 1")
	expectMarks(t, "until the third one", m.list(t, domain.MarkQuery{Until: after(3), Limit: 10}),
		"2 at 1s, 1", "3 at 2s, 1")
	zone := time.FixedZone("east", 3600)
	between := domain.MarkQuery{Since: after(2).In(zone), Until: after(3).In(zone), Limit: 10}
	expectMarks(t, "between two", m.list(t, between),
		"3 at 2s, 1")
	expectMarks(t, "since the last one", m.list(t, domain.MarkQuery{Since: after(4), Limit: 1}), "4 at 4s, 1")
}

// The first session writes its erasure mark and stays open. The second session writes another mark and commits, unless
// the store makes it wait for the first session. A reader then reads the marks and remembers the highest Intake. After
// both sessions have ended, the reader asks for the marks above this Intake. It must get every mark that it has not
// read before.
func markThatCommitsLateIsNotMissed(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	m.erase(t, nil, after(1), 1)
	lock := func(number int64) func(context.Context, ports.Session) error {
		return func(ctx context.Context, s ports.Session) error {
			return errOf(s.Subjects().Lock(ctx, subject(t, "acme", number), after(int(number))))
		}
	}
	erased, listed := make(chan error, 1), make(chan error, 1)
	second, secondEnded := concurrently(func() { erased <- try(t, m.Store, lock(3)) })
	var early, unsettled []domain.ErasureMark
	reader, readerEnded := concurrently(func() {
		listed <- try(t, m.Store, func(ctx context.Context, s ports.Session) (err error) {
			if early, err = s.Erased().Marks(ctx, everyMark); err == nil {
				all := everyMark
				all.Unsettled = true
				unsettled, err = s.Erased().Marks(ctx, all)
			}
			return err
		})
	})
	do(t, m.Store, func(ctx context.Context, s ports.Session) error {
		if err := lock(2)(ctx, s); err != nil {
			return err
		}
		second()
		secondErr, hasCommitted := receiveWithin(erased, moment) // a store may make the second session wait
		reader()
		readerErr, hasRead := receiveWithin(listed, moment) // a store may also make readers wait
		isListed := slices.ContainsFunc(unsettled, func(mark domain.ErasureMark) bool {
			return mark.SubjectID == subject(t, "acme", 3)
		})
		assert(t, isListed || !hasCommitted || !hasRead, "an unsettled mark is not listed, although it is asked for")
		return errors.Join(secondErr, readerErr)
	})
	secondEnded()
	readerEnded()
	query := everyMark
	if len(early) > 0 {
		query.After = early[len(early)-1].Intake
	}
	var found []string
	for _, mark := range append(early, m.list(t, query)...) {
		found = append(found, mark.SubjectID.Elements()[1])
	}
	slices.Sort(found)
	assert(t, slices.Equal(found, []string{"1", "2", "3"}), "of three erasures, the marks of %v are listed", found)
}

func markIsFoundByItsSubject(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	m.erase(t, nil, after(1), 7, 8, 9)
	m.erase(t, nil, after(2), 7)
	do(t, m.Store, func(ctx context.Context, s ports.Session) error {
		return errOf(s.Subjects().LockToRectify(ctx, subject(t, "acme", 6)))
	})
	expectMarks(t, "of no subject", m.find(t))
	expectMarks(t, "of three subjects, two of whom were erased", m.find(t, subject(t, "acme", 7), subject(t, "acme", 6),
		subject(t, "umbrella", 9), subject(t, "acme", 9), subject(t, "acme", 7)), "9 at 1s, 1", "7 at 2s, 2")
}

// find returns the marks that Find returns for the subjects, in ascending order of Intake.
func (m marksStore) find(t testing.TB, ids ...domain.SubjectID) []domain.ErasureMark {
	t.Helper()
	return read(t, m.Store, func(ctx context.Context, s ports.Session) ([]domain.ErasureMark, error) {
		found, err := s.Erased().Find(ctx, ids)
		slices.SortFunc(found, func(a, b domain.ErasureMark) int { return cmp.Compare(a.Intake, b.Intake) })
		return found, err
	})
}

func (m marksStore) position(t testing.TB, reader string) int64 {
	t.Helper()
	return read(t, m.Store, func(ctx context.Context, s ports.Session) (int64, error) {
		return s.Erased().Position(ctx, reader)
	})
}

// advance calls Advance in a separate session. It checks whether Advance has changed the stored position of the reader.
// If the last parameter is not nil, the session rolls back with this error.
func (m marksStore) advance(t testing.TB, reader string, from, to int64, want bool, end error) {
	t.Helper()
	err := try(t, m.Store, func(ctx context.Context, s ports.Session) error {
		moved, err := s.Erased().Advance(ctx, reader, from, to)
		assert(t, moved == want, "Advance of %q from %d to %d returned %v", reader, from, to, moved)
		return errors.Join(err, end)
	})
	must(t, errors.Is(err, end), "a session that advances a reader ended with: %v", err)
}

func markPositionIsKept(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	is := func(reader string, want int64) {
		t.Helper()
		got := m.position(t, reader)
		assert(t, got == want, "the position of %q is %d, want %d", reader, got, want)
	}
	is("journal", 0)
	m.advance(t, "journal", 3, 4, false, nil)
	is("journal", 0)
	m.advance(t, "journal", 0, 5, true, errUndo)
	is("journal", 0)
	m.advance(t, "journal", 0, 5, true, nil)
	m.advance(t, "journal", 0, 9, false, nil)
	m.advance(t, "sweep", 0, 1<<40, true, nil)
	is("journal", 5)
	m.advance(t, "journal", 5, 2, true, nil)
	is("journal", 2)
	is("sweep", 1<<40)
}

func markReaderNeedsAName(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	for _, name := range []string{"", strings.Repeat("x", domain.MaxTextLength+1)} {
		for _, call := range []func(context.Context, ports.ErasedStore) error{
			func(ctx context.Context, erased ports.ErasedStore) error { return errOf(erased.Position(ctx, name)) },
			func(ctx context.Context, erased ports.ErasedStore) error {
				return errOf(erased.Advance(ctx, name, 0, 1))
			},
		} {
			var err error
			_ = try(t, m.Store, func(ctx context.Context, s ports.Session) error {
				err = call(ctx, s.Erased())
				return nil
			})
			isError(t, fmt.Sprintf("a reader with a name of %d characters", len(name)), err, domain.ErrInvalid)
		}
	}
	m.advance(t, strings.Repeat("x", domain.MaxTextLength), 0, 1, true, nil)
}
