package replay_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// town is an application with people in memory. The tests do not compare the instants of the clock with creation times.
type town struct {
	*memory.Store
	eraser *erasure.Eraser
	now    time.Time
	ids    fixture.IDs
	fail   map[string]error
}

func (w *town) Now() time.Time { return w.now }

// newTown returns a town whose erasures delete the rows of people, or overwrite them with a constant.
func newTown(t *testing.T, deletes bool) *town {
	t.Helper()
	table := fixture.Users()
	table.Owned, table.Columns[1].Surrogate = deletes, "erased"
	table.Columns = append(table.Columns, fixture.Column("created_at", datamap.TypeTime))
	if deletes {
		table.Columns[1].Surrogate, table.Columns[1].Personal.Strategy = "", domain.StrategyDelete
	}
	dataMap := fixture.MustMap(t, table)
	store, err := memory.New(dataMap, memory.Options{})
	must(t, err)
	w := &town{Store: store, now: noon, fail: map[string]error{}}
	w.eraser, err = erasure.NewEraser(erasure.Config{Clock: w, IDs: &w.ids, DataMap: dataMap})
	must(t, err)
	return w
}

// add inserts a person whose row was created the given number of microseconds after noon, or at no time if it is 0.
func (w *town) add(t *testing.T, id int64, created int) {
	t.Helper()
	row := memory.Row{"id": id, "email": "zoe@example.org", "created_at": nil}
	if created != 0 {
		row["created_at"] = noon.Add(time.Duration(created) * time.Microsecond)
	}
	must(t, w.Insert("users", row))
}

func (w *town) repeat(
	ctx context.Context, s ports.Session, subject domain.Subject, erasedAt time.Time,
) (domain.ErasureResult, error) {
	if err := w.fail[subject.ID.String()]; err != nil {
		return domain.ErasureResult{}, err
	}
	return w.eraser.Repeat(ctx, s, subject, erasedAt)
}

func (w *town) eraseAll(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := w.eraser.Erase(ctx, s, domain.Subject{ID: idOf(t, id)})
			return err
		}))
	}
}

func (w *town) register(t *testing.T, id string) {
	t.Helper()
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return s.Subjects().Register(ctx, idOf(t, id), w.now)
	}))
}

// lines returns the journal.
func (w *town) lines(t *testing.T) string {
	t.Helper()
	var lines strings.Builder
	_, err := journal.Write(t.Context(), w, &lines, journal.From{})
	must(t, err)
	return lines.String()
}

func (w *town) replay(t *testing.T, lines string, change func(*replay.Config)) (domain.ReplayReport, error) {
	t.Helper()
	config := replay.Config{Sessions: w, Clock: w, IDs: &w.ids, Erase: w.repeat, Workers: 1, Batch: 2}
	if change != nil {
		change(&config)
	}
	replayer, err := replay.NewReplayer(config)
	must(t, err)
	return replayer.Replay(t.Context(), strings.NewReader(lines), nil)
}

// counts removes the other fields from a report.
func counts(r domain.ReplayReport) domain.ReplayReport {
	return domain.ReplayReport{
		Current: r.Current, Erased: r.Erased, New: r.New, OtherRow: r.OtherRow, Unclear: r.Unclear, Skipped: r.Skipped,
		Failed: r.Failed,
	}
}

func (w *town) people(t *testing.T) (n int) {
	t.Helper()
	rows, err := w.Rows("users")
	must(t, err)
	for _, row := range rows {
		if row["email"] == "zoe@example.org" {
			n++
		}
	}
	return n
}

// A person whose row was created 5 µs after noon is erased, and then a row with the same id stands there.
func TestARecordedErasureIsJudgedByTheRow(t *testing.T) {
	hour := time.Hour
	for name, c := range map[string]struct {
		erased, back int           // the creation times
		registered   bool          // the application calls Registered for the row that is back
		ahead        time.Duration // RestoredTo is so much later than the erasure; 0 for none
		want         domain.ReplayReport
		says         string
	}{
		"the same row":           {5, 5, false, 0, domain.ReplayReport{Erased: 1}, ""},
		"a later row":            {5, 6, false, 0, domain.ReplayReport{New: 1}, ""},
		"a row without a time":   {5, 0, false, 0, domain.ReplayReport{Unclear: 1}, "again with RestoredTo (--restored-to)"},
		"nothing to compare":     {0, 5, false, 0, domain.ReplayReport{Unclear: 1}, "Registered"},
		"an earlier row":         {5, 4, false, 0, domain.ReplayReport{OtherRow: 1}, "another creation time"},
		"the same second":        {1e6, 1e6, false, 0, domain.ReplayReport{Unclear: 1}, "a creation time"},
		"registered, no times":   {0, 0, true, 0, domain.ReplayReport{New: 1}, ""},
		"registered, but before": {5, 4, true, 0, domain.ReplayReport{New: 1}, ""},

		"undone: the same row":         {5, 5, false, -hour, domain.ReplayReport{Erased: 1}, ""},
		"undone: a later row":          {5, 6, false, -hour, domain.ReplayReport{New: 1}, ""},
		"undone: a row without a time": {5, 0, false, -hour, domain.ReplayReport{Erased: 1}, ""},
		"undone: nothing to compare":   {0, 5, false, -hour, domain.ReplayReport{Erased: 1}, ""},
		"undone: the same second":      {1e6, 1e6, false, -hour, domain.ReplayReport{Erased: 1}, ""},
		"undone: an earlier row":       {5, 4, false, -hour, domain.ReplayReport{OtherRow: 1}, "does not erase them"},
		"undone: registered":           {5, 6, true, -hour, domain.ReplayReport{New: 1}, ""},
		"undone: perhaps registered":   {0, 0, true, -hour, domain.ReplayReport{Unclear: 1}, "nothing tells"},

		"not undone: the same instant": {5, 0, false, time.Nanosecond, domain.ReplayReport{Unclear: 1}, "nothing tells"},
		"not undone: later":            {5, 0, false, hour, domain.ReplayReport{Unclear: 1}, "nothing tells"},
		"not undone: the same row":     {5, 5, false, hour, domain.ReplayReport{Erased: 1}, ""},
	} {
		w := newTown(t, true)
		w.add(t, 1, c.erased)
		w.eraseAll(t, "1")
		lines := w.lines(t)
		w.add(t, 1, c.back)
		if c.registered {
			w.register(t, "1")
		}
		report, err := w.replay(t, lines, func(config *replay.Config) {
			if c.ahead != 0 {
				config.RestoredTo = noon.Add(c.ahead)
			}
		})
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: got %v", name, err)
			}
		} else {
			incomplete(t, name, err, c.says)
		}
		if got := counts(report); !reflect.DeepEqual(got, c.want) || report.Subjects != 1 {
			t.Errorf("%s: got %+v", name, report)
		}
		if left := w.people(t); left != 1-int(report.Erased) {
			t.Errorf("%s: %d rows are left", name, left)
		}
	}
}

// The row has another creation time than the lines whose erasures the database has lost.
func TestALostErasureOfAnotherRowIsNotRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		lines []int // the creation times
		row   int
		want  domain.ReplayReport
	}{
		"the row of the line":        {[]int{5}, 5, domain.ReplayReport{Erased: 1}},
		"of one of the lines":        {[]int{5, 6}, 5, domain.ReplayReport{Erased: 1}},
		"of no line":                 {[]int{5, 6}, 7, domain.ReplayReport{OtherRow: 1}},
		"perhaps of a line":          {[]int{5, 0}, 7, domain.ReplayReport{Erased: 1}},
		"no creation time":           {[]int{5}, 0, domain.ReplayReport{Erased: 1}},
		"no row at all":              {[]int{5}, -1, domain.ReplayReport{Erased: 1}},
		"another one, in any second": {[]int{1e6}, 2e6, domain.ReplayReport{OtherRow: 1}},
	} {
		w := newTown(t, true)
		own, lines := w.installation(t).ID, ""
		for i, created := range c.lines {
			entry := domain.JournalEntry{
				Installation: own, Number: int64(i) + 1, After: int64(i), SubjectID: idOf(t, "1"), ErasedAt: noon,
			}
			if created != 0 {
				entry.AddedAt = noon.Add(time.Duration(created) * time.Microsecond)
			}
			lines += string(entry.AppendLine(nil))
		}
		if c.row >= 0 {
			w.add(t, 1, c.row)
		}
		report, err := w.replay(t, lines, nil)
		if got := counts(report); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v", name, report)
		}
		if c.want.OtherRow > 0 {
			incomplete(t, name, err, "another creation time than the row that was erased: 1.")
		} else if err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func (w *town) installation(t *testing.T) datamap.Installation {
	t.Helper()
	return (&world{Store: w.Store}).installation(t)
}

// The first replay fails for one person. Its repetition erases this person only. It erases neither the others again nor
// a person who was erased between the two. Another instant begins anew.
func TestARepetitionLeavesLaterErasuresAlone(t *testing.T) {
	w := newTown(t, false)
	for id := range int64(5) {
		w.add(t, id+1, 0)
	}
	w.eraseAll(t, "1", "2", "3", "4")
	lines := strings.Join(strings.SplitAfter(w.lines(t), "\n")[:2], "") // without 3 and 4
	to := func(at time.Time) func(*replay.Config) { return func(c *replay.Config) { c.RestoredTo = at } }
	w.now = noon.Add(time.Minute)
	report, err := w.replay(t, lines, to(w.now))
	incomplete(t, "an instant after all erasures", err, "nothing tells")
	if got := counts(report); !reflect.DeepEqual(got, domain.ReplayReport{Unclear: 2}) {
		t.Errorf("of the current instant, the report is %+v", report)
	}
	w.fail["2"] = io.ErrNoProgress
	report, err = w.replay(t, lines, to(noon.Add(-time.Hour)))
	if got := counts(report); !errors.Is(err, io.ErrNoProgress) || report.Subjects != 4 ||
		!reflect.DeepEqual(got, domain.ReplayReport{Erased: 3, Failed: 1}) {
		t.Errorf("at first, the report is %+v: %v", report, err)
	}
	delete(w.fail, "2")
	w.eraseAll(t, "5")
	lines += numbered(t, w.installation(t).ID, "5", 2, w.numberOf(t, "5"))
	for _, want := range []domain.ReplayReport{{Erased: 1, Current: 2}, {Current: 3}} {
		report, err = w.replay(t, lines, to(noon.Add(-time.Hour)))
		if got := counts(report); !reflect.DeepEqual(got, want) || err != nil {
			t.Errorf("again, the report is %+v: %v", report, err)
		}
	}
	report, err = w.replay(t, lines, to(noon.Add(-2*time.Hour)))
	if got := counts(report); !reflect.DeepEqual(got, domain.ReplayReport{Erased: 5}) || err != nil {
		t.Errorf("with another instant, the report is %+v: %v", report, err)
	}
}

func (w *town) numberOf(t *testing.T, id string) int64 {
	t.Helper()
	for _, mark := range (&world{Store: w.Store}).marks(t) {
		if mark.SubjectID == idOf(t, id) {
			return mark.Intake
		}
	}
	t.Fatal("no mark")
	return 0
}

// A database without marks has no highest number. The erasures of the first replay must still count as later ones.
func TestTheFirstReplayStoresItsPositionWithoutMarks(t *testing.T) {
	w := newTown(t, false)
	w.add(t, 1, 0)
	line := numbered(t, w.installation(t).ID, "1", 0, 1)
	for _, want := range []domain.ReplayReport{{Erased: 1}, {Current: 1}} {
		w.now = noon.Add(time.Hour)
		report, err := w.replay(t, line, func(c *replay.Config) { c.RestoredTo = noon.Add(-time.Hour) })
		if got := counts(report); !reflect.DeepEqual(got, want) || err != nil {
			t.Errorf("the report is %+v: %v", report, err)
		}
	}
}

// After the first judgement, the function Refs runs. A person who registers in the meantime is not erased.
func TestTheErasureJudgesAgain(t *testing.T) {
	for name, between := range map[string]func(w *town){
		"registered": func(w *town) { w.register(t, "1") },
		"erased":     func(w *town) { w.eraseAll(t, "1") },
	} {
		w := newTown(t, false)
		w.add(t, 1, 0)
		w.eraseAll(t, "1")
		before := w.numberOf(t, "1")
		report, err := w.replay(t, w.lines(t), func(c *replay.Config) {
			c.RestoredTo = noon.Add(-time.Hour)
			c.Refs = func(context.Context, domain.SubjectID) ([]domain.SubjectRef, error) {
				between(w)
				return nil, nil
			}
		})
		if report.Erased != 0 || report.Current+report.Unclear != 1 || (name == "erased") != (err == nil) {
			t.Errorf("%s: got %+v, %v", name, report, err)
		}
		if after := w.numberOf(t, "1"); (after != before) != (name == "erased") {
			t.Errorf("%s: the mark has the number %d after %d", name, after, before)
		}
	}
}
