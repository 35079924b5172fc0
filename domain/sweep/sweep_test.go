package sweep_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

const day = 24 * time.Hour

func TestASweepIsRecordedStepByStep(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 2)
	w.clock.Set(noon.AddDate(1, 0, 1))
	w.ids.Made.Store(100)
	report, err := w.sweeper(t, 0).RunAll(t.Context(), nil)
	want := domain.SweepReport{Erased: 2, Subjects: 2, Rows: map[string]int64{"invoices": 4, "letters": 2}}
	if err != nil || !reflect.DeepEqual(report, want) || w.left(t) > 0 {
		t.Errorf("%d values are left, the report is %+v: %v", w.left(t), report, err)
	}
	got := strings.Join(w.trail(t, 1), "; ")
	if got != "retention_swept map[operation_id:id-101 rows:2 target:invoices]; "+
		"retention_swept map[operation_id:id-101 rows:1 target:letters]" {
		t.Errorf("the trail is %s", got)
	}
	report, err = w.sweeper(t, 0).RunAll(t.Context(), nil)
	if err != nil || report.Subjects > 0 || len(w.trail(t, 1)) > 2 {
		t.Errorf("a second sweep reports %+v: %v", report, err)
	}
}

func TestNothingIsSweptBeforeADutyIsOver(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 2)
	w.clock.Set(noon.AddDate(1, 0, -1))
	report, err := w.sweeper(t, 0).RunAll(t.Context(), nil)
	if err != nil || report.Erased != 2 || report.Subjects > 0 || w.left(t) != 6 {
		t.Errorf("%d values are left, the report is %+v: %v", w.left(t), report, err)
	}
}

// Each process takes the next batch of the same pass. A restarted process also continues this pass.
func TestAPassIsSharedByProcesses(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 7)
	w.clock.Set(noon.AddDate(1, 0, 1))
	var seen []int64
	for more := true; more; {
		report, goesOn, err := w.sweeper(t, 3).RunOnce(t.Context(), day) // each by another process
		must(t, err)
		more, seen = goesOn, append(seen, report.Erased)
	}
	if !slices.Equal(seen, []int64{3, 3, 1}) || w.left(t) > 0 {
		t.Errorf("batches of %v were swept, %d values are left", seen, w.left(t))
	}
}

func TestTheNextPassBeginsAfterTheInterval(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 2)
	sweeper := w.sweeper(t, 1)
	pass := func(after time.Duration) (batches int) {
		t.Helper()
		w.clock.Set(noon.Add(after))
		for {
			report, more, err := sweeper.RunOnce(t.Context(), day)
			must(t, err)
			batches += int(report.Erased)
			if !more {
				return batches
			}
		}
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 2}, {time.Hour, 0}, {day - time.Second, 0}, {day, 2}, {day + time.Hour, 0}, {0, 2}} { // {0, 2}: set back
		if got := pass(c.after); got != c.want {
			t.Errorf("after %v, %d marks were read, want %d", c.after, got, c.want)
		}
	}
}

func TestASubjectThatFailsDelaysNoOther(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 3)
	w.clock.Set(noon.AddDate(1, 0, 1))
	broken := failing{world: w, id: "2", err: &domain.Error{Code: domain.ErrLeftOver, Op: "sweep"}}
	report, more, err := w.sweeper(t, 10, broken).RunOnce(t.Context(), day)
	if !errors.Is(err, domain.ErrLeftOver) || more || report.Failed != 1 || report.Subjects != 2 || w.left(t) != 3 {
		t.Errorf("%d values are left, the report is %+v: %v", w.left(t), report, err)
	}
	if got := w.trail(t, 2); len(got) != 1 || !strings.HasPrefix(got[0], "retention_sweep_failed map[error:left_over") ||
		!strings.Contains(got[0], "target:letters") {
		t.Errorf("the trail is %v", got)
	}
	w.clock.Advance(day)
	for more = true; more; {
		_, more, err = w.sweeper(t, 10).RunOnce(t.Context(), day)
		must(t, err)
	}
	if w.left(t) > 0 {
		t.Errorf("after the next pass, %d values are left", w.left(t))
	}
}

// The id of an erased subject no longer fits the key of the subject's table, for example because the type of the key
// was changed.
func TestAnIDThatNoLongerFitsTheKeyDelaysNoOther(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 5)
	w.clock.Set(noon.AddDate(1, 0, 1))
	changed := fixture.Misfit{SessionFactory: w, Changed: map[string]string{"1": "anna", "4": "zoe"}}
	report, err := w.sweeper(t, 2, changed).RunAll(t.Context(), nil)
	if !errors.Is(err, domain.ErrSubject) || strings.Contains(err.Error(), "anna") || report.Skipped != 2 ||
		report.Subjects != 3 || report.Erased != 5 || report.Failed > 0 || w.left(t) != 6 {
		t.Errorf("%d values are left, the report is %+v: %v", w.left(t), report, err)
	}
	w = newWorld(t)
	w.erased(t, 2)
	w.clock.Set(noon.AddDate(1, 0, 1))
	changed.SessionFactory = w
	report, _, err = w.sweeper(t, 10, changed).RunOnce(t.Context(), day)
	if !errors.Is(err, domain.ErrSubject) || report.Skipped != 1 || report.Subjects != 1 || w.left(t) != 3 {
		t.Errorf("%d values are left, the report is %+v: %v", w.left(t), report, err)
	}
	w = newWorld(t)
	w.erased(t, 2)
	w.clock.Set(noon.AddDate(1, 0, 1))
	broken := failing{world: w, id: "2", err: &domain.Error{Code: domain.ErrLeftOver, Op: "sweep"}}
	misfit := fixture.Misfit{SessionFactory: broken, Changed: changed.Changed}
	report, err = w.sweeper(t, 1, misfit).RunAll(t.Context(), nil)
	if !errors.Is(err, domain.ErrLeftOver) || report.Skipped != 1 || report.Failed != 1 {
		t.Errorf("with a failure, the report is %+v: %v", report, err)
	}
}

func TestAnUnavailableDatabaseEndsTheBatch(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 3)
	w.clock.Set(noon.AddDate(1, 0, 1))
	away := failing{world: w, id: "1", err: &domain.Error{Code: domain.ErrUnavailable, Op: "sweep"}}
	report, more, err := w.sweeper(t, 10, away).RunOnce(t.Context(), day)
	if !errors.Is(err, domain.ErrUnavailable) || more || report.Subjects > 0 {
		t.Errorf("the report is %+v, and there is more: %v, %v", report, more, err)
	}
	report, err = w.sweeper(t, 2, away).RunAll(t.Context(), nil)
	if !errors.Is(err, domain.ErrUnavailable) || report.Erased != 2 {
		t.Errorf("the report is %+v: %v", report, err)
	}
}

func TestARehearsalCountsAndLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 5)
	w.clock.Set(noon.AddDate(1, 0, 1))
	var progress []int64
	report, err := w.sweeper(t, 2).Rehearse(t.Context(), func(r domain.SweepReport) {
		progress = append(progress, r.Erased)
	})
	want := domain.SweepReport{Erased: 5, Subjects: 5, Rows: map[string]int64{"invoices": 10, "letters": 5}}
	if err != nil || !reflect.DeepEqual(report, want) || !slices.Equal(progress, []int64{2, 4, 5}) {
		t.Errorf("the report is %+v, the progress %v: %v", report, progress, err)
	}
	if w.left(t) != 15 || len(w.trail(t, 1)) > 0 {
		t.Errorf("%d values are left, and the trail %v", w.left(t), w.trail(t, 1))
	}
}

func TestAnInvalidConfigurationIsRefused(t *testing.T) {
	w := newWorld(t)
	good := sweep.Config{Sessions: w, Clock: w.clock, IDs: w.ids, DataMap: w.dataMap, Plan: w.plan}
	for name, c := range map[string]struct {
		change func(*sweep.Config)
		code   domain.Code
	}{
		"no sessions":      {func(c *sweep.Config) { c.Sessions = nil }, domain.ErrConfiguration},
		"no clock":         {func(c *sweep.Config) { c.Clock = nil }, domain.ErrConfiguration},
		"no ids":           {func(c *sweep.Config) { c.IDs = nil }, domain.ErrConfiguration},
		"no data map":      {func(c *sweep.Config) { c.DataMap = datamap.DataMap{} }, domain.ErrConfiguration},
		"a negative batch": {func(c *sweep.Config) { c.Batch = -1 }, domain.ErrConfiguration},
		"another plan": {func(c *sweep.Config) {
			c.Plan = datamap.Plan{Steps: []datamap.Step{
				{Target: "x", Strategy: domain.StrategyRetain, Columns: []string{"y"}, Expired: []string{"y"}},
			}}
		}, domain.ErrManifest},
	} {
		config := good
		c.change(&config)
		_, err := sweep.NewSweeper(config)
		if !errors.Is(err, c.code) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	// If no retention duty has an end, Sweeper does not search for subjects.
	config := good
	config.DataMap, config.Plan = fixture.MustMap(t, fixture.Users()), datamap.Plan{}
	sweeper, err := sweep.NewSweeper(config)
	must(t, err)
	w.erased(t, 1)
	if report, err := sweeper.RunAll(t.Context(), nil); err != nil || report.Erased > 0 {
		t.Errorf("got %+v, %v", report, err)
	}
}

// Concurrent erasures do not prolong a pass.
func TestAPassEndsDuringConcurrentErasures(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 4)
	sweeper, next := w.sweeper(t, 2), int64(4)
	for batches := 1; ; batches++ {
		_, more, err := sweeper.RunOnce(t.Context(), day)
		must(t, err)
		if !more {
			break
		}
		if batches > 5 {
			t.Fatal("the pass goes on")
		}
		next++
		w.erasedFrom(t, next, next)
	}
}

// Nothing tells whether the row of customer 1 belongs to a new person: it has no creation time, and another address
// than the erasure has written.
func TestDueCellsOfAnUnknownLifeAreLeftAndCounted(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 2)
	w.register(t, 1)
	w.clock.Set(noon.AddDate(1, 0, 1))
	report, err := w.sweeper(t, 0).RunAll(t.Context(), nil)
	want := domain.SweepReport{
		Erased: 2, Subjects: 1, Unclear: 1, Rows: map[string]int64{"invoices": 2, "letters": 1},
	}
	if err != nil || !reflect.DeepEqual(report, want) || w.left(t) != 3 {
		t.Errorf("%d values are left, the report is %+v: %v", w.left(t), report, err)
	}
}

// register gives the row of an erased customer another address, so that nothing tells whose it is.
func (w *world) register(t *testing.T, customer int64) {
	t.Helper()
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Rectify(ctx, idOf(t, customer), domain.RectificationStep{
			Table: "users", Values: []domain.ColumnValue{{Column: "email", Value: "new@example.org"}},
		})
		return err
	}))
}

// leftOver returns the number of subjects that a sweep has left over, as the database has it.
func (w *world) leftOver(t *testing.T) (left int64) {
	t.Helper()
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if err := s.Installation().Duties().Begin(ctx, domain.Duty{Name: domain.DutySweep, Every: time.Hour}); err != nil {
			return err
		}
		all, err := s.Installation().Duties().Read(ctx)
		left = all[0].LeftOver
		return err
	}))
	return left
}

// A subject with unclear cells counts as soon as it is found, until a complete sweep no longer finds it.
func TestALeftOverSubjectCountsUntilACompleteSweepOverwritesIt(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 3)
	w.register(t, 1)
	w.clock.Set(noon.AddDate(1, 0, 1))
	sweeper := w.sweeper(t, 1)
	pass := func(want ...int64) {
		t.Helper()
		for i, wanted := range want {
			_, more, err := sweeper.RunOnce(t.Context(), time.Hour)
			if got := w.leftOver(t); err != nil || got != wanted || more != (i < len(want)-1) {
				t.Errorf("after batch %d: %d are left over, want %d (%v, %v)", i, got, wanted, more, err)
			}
		}
	}
	pass(1, 1, 1, 1)
	w.clock.Advance(time.Hour)
	pass(1, 1, 1, 1) // the same subject counts once
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Lock(ctx, idOf(t, 1), w.clock.Now())
		return err
	}))
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Apply(ctx, idOf(t, 1), plan.LocalAt(w.plan, w.clock.Now()))
		return err
	}))
	w.clock.Advance(time.Hour)
	pass(1, 1, 1, 0)
}

func TestACompleteSweepReplacesTheNumberOfLeftOverSubjects(t *testing.T) {
	w := newWorld(t)
	w.erased(t, 2)
	w.register(t, 1)
	w.clock.Set(noon.AddDate(1, 0, 1))
	for range 2 {
		if _, err := w.sweeper(t, 0).Rehearse(t.Context(), nil); err != nil || w.leftOver(t) != 0 {
			t.Errorf("a rehearsal: %d are left over (%v)", w.leftOver(t), err)
		}
	}
	for range 2 {
		if _, err := w.sweeper(t, 0).RunAll(t.Context(), nil); err != nil || w.leftOver(t) != 1 {
			t.Errorf("%d are left over, want 1 (%v)", w.leftOver(t), err)
		}
	}
}
