package porttest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// brokenMarks is an ErasedStore with defective marks. Each field that is set causes a defect.
type brokenMarks struct {
	ports.ErasedStore
	every  func(*domain.ErasureMark) // changes all marks before the query is applied
	query  func(*domain.MarkQuery)
	reader func(string) string
	find   func(marked, sought domain.SubjectID) bool
	also   []domain.ErasureMark
	lost   *sync.Map                 // positions that a rollback does not restore
	listed func(*domain.ErasureMark) // changes the marks that Marks returns
	lives  func([]domain.Life)
	// selectedOnly makes After the Intake of the mark before in the result.
	selectedOnly bool
	forgets      bool // RecallRow does nothing
}

func (b brokenMarks) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		changed := b
		changed.ErasedStore = s.Erased()
		return replacedStores{Session: s, erased: changed}
	})(store)
}

func (b brokenMarks) Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error) {
	if b.query != nil {
		b.query(&query)
	}
	if b.listed != nil || b.selectedOnly {
		marks, err := b.ErasedStore.Marks(ctx, query)
		before := query.After
		for i := range marks {
			if b.listed != nil {
				b.listed(&marks[i])
			}
			if b.selectedOnly {
				marks[i].After, before = before, marks[i].Intake
			}
		}
		return marks, err
	}
	if b.every == nil && b.also == nil {
		return b.ErasedStore.Marks(ctx, query)
	}
	all, err := b.ErasedStore.Marks(ctx, domain.MarkQuery{Limit: math.MaxInt})
	all = append(all, b.also...)
	var marks []domain.ErasureMark
	for _, mark := range all {
		if b.every != nil {
			b.every(&mark)
		}
		if query.Matches(mark) {
			marks = append(marks, mark)
		}
	}
	slices.SortFunc(marks, func(a, b domain.ErasureMark) int { return cmp.Compare(a.Intake, b.Intake) })
	return marks[:max(0, min(len(marks), query.Limit))], err
}

func (b brokenMarks) Lives(ctx context.Context, marks []domain.ErasureMark) ([]domain.Life, error) {
	lives, err := b.ErasedStore.Lives(ctx, marks)
	if b.lives != nil && err == nil {
		b.lives(lives)
	}
	return lives, err
}

func (b brokenMarks) Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error) {
	if b.find == nil {
		return b.ErasedStore.Find(ctx, ids)
	}
	var found []domain.ErasureMark
	all, err := b.ErasedStore.Marks(ctx, domain.MarkQuery{Limit: math.MaxInt})
	for _, mark := range all {
		if slices.ContainsFunc(ids, func(id domain.SubjectID) bool { return b.find(mark.SubjectID, id) }) {
			found = append(found, mark)
		}
	}
	return found, err
}

func (b brokenMarks) Position(ctx context.Context, reader string) (int64, error) {
	if b.reader != nil {
		reader = b.reader(reader)
	}
	if b.lost != nil {
		position, _ := b.lost.Load(reader)
		at, _ := position.(int64)
		return at, domain.CheckReader(reader)
	}
	return b.ErasedStore.Position(ctx, reader)
}

func (b brokenMarks) Advance(ctx context.Context, reader string, expected, next int64) (bool, error) {
	if b.reader != nil {
		reader = b.reader(reader)
	}
	if b.lost != nil {
		at, err := b.Position(ctx, reader)
		if err != nil || at != expected {
			return false, err
		}
		b.lost.Store(reader, next)
		return true, nil
	}
	return b.ErasedStore.Advance(ctx, reader, expected, next)
}

func (b brokenMarks) RecallRow(ctx context.Context, id domain.SubjectID, addedAt time.Time) error {
	if b.forgets {
		return nil
	}
	return b.ErasedStore.RecallRow(ctx, id, addedAt)
}

// raisesTo is a defect: RaiseSequences raises to another number.
func raisesTo(number func(int64) int64) func(*Store) {
	return changesSessions(func(s ports.Session) replacedStores {
		return replacedStores{Session: s, installation: raisesOther{s.Installation(), number}}
	})
}

type raisesOther struct {
	ports.InstallationStore
	number func(int64) int64
}

func (r raisesOther) RaiseSequences(ctx context.Context, intake int64) error {
	return r.InstallationStore.RaiseSequences(ctx, r.number(intake))
}

func TestErasureMarksThatKeepTheirPromisesPass(t *testing.T) {
	TestErasureMarks(t, inMemory(noDefect))
}

func TestErasureMarksThatBreakAPromiseFail(t *testing.T) {
	numbered := func(mark domain.ErasureMark) int64 {
		elements := mark.SubjectID.Elements()
		number, _ := strconv.ParseInt(elements[len(elements)-1], 10, 64)
		return number
	}
	ghost := domain.ErasureMark{SubjectID: subject(t, "acme", 8), ErasedAt: after(1), Erasures: 1, Intake: 2}
	promise.ExpectDefects(t, markPromises, brokenStore, defects{
		"by instants": {brokenMarks{every: func(m *domain.ErasureMark) { m.Intake = m.ErasedAt.Unix() }}.breaks, found{
			"want [7 at 20s, 1; 9 at 10s, 1; 8 at 30s, 1]": {markOfEachErasureIsListed},
		}},
		"in places that are taken before the lock": {
			brokenMarks{every: func(m *domain.ErasureMark) { m.Intake = 100 - numbered(*m) }}.breaks,
			found{"the marks of [1] are listed": {markThatCommitsLateIsNotMissed}},
		},
		"in the first place": {brokenMarks{every: func(m *domain.ErasureMark) { m.Intake = numbered(*m) }}.breaks, found{
			"want [8 at 2s, 1; 7 at 3s, 2]": {markMovesWithAnotherErasure},
		}},
		"of a rollback": {brokenMarks{also: []domain.ErasureMark{ghost}}.breaks, found{
			"after a rollback": {markOfARollbackIsNotListed},
		}},
		"one too many": {brokenMarks{query: func(q *domain.MarkQuery) { q.Limit++ }}.breaks, found{
			"with a limit of 0": {markPagesFollowEachOther},
		}},
		"until the instant": {
			brokenMarks{query: func(q *domain.MarkQuery) { q.Until = q.Until.Add(time.Microsecond) }}.breaks,
			found{"until the third one": {markQueriesHaveBounds}},
		},
		"after the instant": {
			brokenMarks{query: func(q *domain.MarkQuery) { q.Since = q.Since.Add(time.Microsecond) }}.breaks,
			found{"since the second one": {markQueriesHaveBounds}},
		},
		"after the mark that was returned before": {brokenMarks{selectedOnly: true}.breaks, found{
			"since an instant: the mark before": {markNamesTheMarkBefore},
		}},
		"lives in the order of the intake": {
			brokenMarks{lives: slices.Reverse[[]domain.Life]}.breaks,
			found{"Lives returns": {markLivesAreThoseOfTheirRows}},
		},
		"a row that ends the life": {brokenMarks{lives: func(lives []domain.Life) {
			for i := range lives {
				lives[i] = domain.LifeEnded
			}
		}}.breaks, found{`Lives returns "ended"`: {markLivesAreThoseOfTheirRows}}},
		"without the creation time": {
			brokenMarks{listed: func(m *domain.ErasureMark) { m.AddedAt = time.Time{} }}.breaks,
			found{"a row: the creation time in the mark is 0001": {markHasTheCreationTimeOfTheRow}},
		},
		"with the creation time of no row": {brokenMarks{listed: func(m *domain.ErasureMark) {
			if m.Erasures == 4 {
				m.AddedAt = time.Time{}
			}
		}}.breaks, found{"another erasure without a row: the creation time": {markHasTheCreationTimeOfTheRow}}},
		"by the clock of a process": {brokenMarks{every: func(m *domain.ErasureMark) {
			m.ErasedAt = m.ErasedAt.Add(5 * time.Hour)
		}}.breaks, found{"the instant of the mark is": {markHasTheInstantOfTheStore}}},
		"by a clock that goes back": {brokenMarks{every: func(m *domain.ErasureMark) {
			m.ErasedAt = m.ErasedAt.Add(-time.Duration(m.Intake) * time.Second)
		}}.breaks, found{"before that of an earlier mark": {markHasTheInstantOfTheStore}}},
		"without the instant of the mark": {brokenSubjects{lock: func(c subjectCall) (time.Time, error) {
			at, err := c.lock()
			return at.Add(time.Hour), err
		}}.breaks, found{"but the instant of the mark is": {markHasTheInstantOfTheStore}}},
		"that recall nothing": {brokenMarks{forgets: true}.breaks, found{
			"without a row: the creation time in the mark is 0001": {markRecallsARow},
		}},
		"sequences that are not raised": {raisesTo(func(int64) int64 { return 0 }), found{
			"after raising: the next mark has the Intake 2": {markFollowsARaisedSequence},
		}},
		"sequences that are always raised": {func(store *Store) {
			to := int64(0)
			raisesTo(func(int64) int64 { to += 5000; return to })(store)
		}, found{"raising less has raised the Intake": {markFollowsARaisedSequence}}},
		"of one reader": {brokenMarks{reader: func(name string) string {
			if domain.CheckReader(name) != nil {
				return name
			}
			return "one"
		}}.breaks, found{"the position of": {markPositionIsKept}}},
		"found, of any subject": {brokenMarks{find: func(_, _ domain.SubjectID) bool { return true }}.breaks, found{
			"of three subjects": {markIsFoundByItsSubject},
		}},
		"a position that no rollback takes back": {func(store *Store) {
			brokenMarks{lost: &sync.Map{}}.breaks(store)
		}, found{`the position of "journal" is 5, want 0`: {markPositionIsKept}}},
		"a reader of any name": {brokenMarks{reader: func(string) string { return "any" }}.breaks, found{
			"a reader with a name of 0 characters: want the error": {markReaderNeedsAName},
		}},
	})
}
