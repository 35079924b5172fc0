package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Some marks before the ones that a query returns are excluded by its bounds. They count nevertheless.
func markNamesTheMarkBefore(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	for number, seconds := range []int{3, 1, 2, 5, 4} {
		m.erase(t, nil, after(seconds), int64(number))
	}
	m.erase(t, nil, after(1), 0) // its mark is now the last one
	all := m.list(t, everyMark)
	must(t, len(all) == 5, "of five subjects there are %d marks", len(all))
	second := all[1].Intake
	for what, query := range map[string]domain.MarkQuery{
		"all": {Limit: 10}, "the first two": {Limit: 2}, "after the second one": {After: second, Limit: 10},
		"after no mark": {After: second + 1000, Limit: 10}, "since an instant": {Since: after(3), Limit: 10},
		"until an instant":                      {Until: after(3), Limit: 10},
		"since an instant, after a mark":        {Since: after(5), After: second, Limit: 10},
		"between two, one mark":                 {Since: after(2), Until: after(5), Limit: 1},
		"until an instant, after the first one": {Until: after(5), After: all[0].Intake, Limit: 10},
	} {
		for _, mark := range m.list(t, query) {
			want := query.After
			for _, before := range all {
				if before.Intake < mark.Intake {
					want = max(want, before.Intake)
				}
			}
			assert(t, mark.After == want, "%s: the mark before %d is %d, want %d", what, mark.Intake, mark.After, want)
		}
	}
	for _, mark := range m.find(t, all[2].SubjectID) {
		assert(t, mark.After == 0, "Find returns the mark before, %d", mark.After)
	}
}

func markHasTheCreationTimeOfTheRow(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	s := lifeUnderTest{shopUnderTest(m)}
	expect := func(what string, want time.Time) {
		t.Helper()
		s.erase(t, removal)
		marks := append(m.find(t, zoe.id(t)), m.list(t, everyMark)...)
		must(t, len(marks) == 2, "%s: there are %d marks", what, len(marks))
		for _, mark := range marks {
			if got := mark.AddedAt; !got.Truncate(time.Millisecond).Equal(want.Truncate(time.Millisecond)) {
				t.Errorf("%s: the creation time in the mark is %v, want %v", what, got, want)
			}
			assert(t, mark.AddedAt.Location() == time.UTC, "%s: the creation time is not in UTC", what)
		}
	}
	expect("an erasure without a row", time.Time{})
	s.register(t, nil)
	expect("a row without a creation time", time.Time{})
	s.register(t, after(10))
	expect("a row", after(10))
	expect("another erasure without a row", after(10))
	s.register(t, nil)
	expect("another row without a creation time", after(10))
	s.register(t, after(5))
	expect("another row", after(5))
}

func markFollowsARaisedSequence(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	raise := func(to int64) {
		do(t, m.Store, func(ctx context.Context, s ports.Session) error {
			return s.Installation().RaiseSequences(ctx, to)
		})
	}
	next := func(what string, number, above int64) int64 {
		t.Helper()
		m.erase(t, nil, after(int(number)), number)
		var intake int64
		for _, mark := range m.find(t, subject(t, "acme", number)) {
			intake = mark.Intake
		}
		assert(t, intake > above, "%s: the next mark has the Intake %d, want more than %d", what, intake, above)
		return intake
	}
	first := next("without a call", 1, 0)
	raise(first + 1000)
	raised := next("after raising", 2, first+1000)
	raise(first)
	raise(0)
	last := next("after raising less", 3, raised)
	assert(t, last < raised+1000, "raising less has raised the Intake from %d to %d", raised, last)
	raise(last)
	next("after raising to the last mark", 1, last)
	expectMarks(t, "of raised sequences", m.list(t, everyMark), "2 at 2s, 1", "3 at 3s, 1", "1 at 1s, 2")
	record := consentRecord(subject(t, "acme", 9), "new", true, 0)
	consents.add(t, m.Store, true, record)
	expectRecords(t, "a consent after raising", consents.name, consents.all(t, m.Store, record.SubjectID, pointer("news")),
		record)
}

func markLivesAreThoseOfTheirRows(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	var numbers []int64
	for number := range int64(70) { // more than a statement may read
		numbers = append(numbers, number+1)
	}
	m.erase(t, nil, noon, numbers...)
	for _, number := range numbers {
		if number%3 == 0 {
			m.Insert(t, "people", customer{"acme", number, number * 1000}.person())
		}
	}
	marks := m.list(t, everyMark)
	slices.Reverse(marks)
	got := read(t, m.Store, func(ctx context.Context, s ports.Session) ([]domain.Life, error) {
		return s.Erased().Lives(ctx, marks)
	})
	must(t, len(got) == len(numbers), "Lives returns %d elements for %d marks", len(got), len(numbers))
	for i, mark := range marks {
		state := read(t, m.Store, func(ctx context.Context, s ports.Session) (domain.SubjectState, error) {
			return s.Subjects().State(ctx, mark.SubjectID)
		})
		want := domain.LifeEnded
		if number := int64(len(numbers) - i); number%3 == 0 {
			want = domain.LifeUnknown
		}
		assert(t, got[i] == want && state.Life == want, "Lives returns %q for mark %d and State %q, want %q",
			got[i], i, state.Life, want)
	}
}
