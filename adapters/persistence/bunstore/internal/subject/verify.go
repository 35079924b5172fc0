package subject

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// applyVerified runs the steps one by one in a database whose triggers, rules or views may keep values despite a
// deletion or an overwrite. It looks for remaining values after each step that deletes rows, because later steps may
// delete the rows that connect such values to the subject. It looks again after all steps, and after last, which runs
// behind the last step. It returns domain.ErrUnavailable if the deadline of the context passes, for example because
// other transactions add rows faster than the steps delete them.
func (s *Work) applyVerified(
	ctx context.Context, key []any, steps []datamap.Step, last func() error,
) (rows []int64, err error) {
	defer func() {
		if errors.Is(err, context.DeadlineExceeded) {
			err = &domain.Error{Code: domain.ErrUnavailable, Op: "erase", Message: "took longer than its deadline", Err: err}
		}
	}()
	if s.db.Joined { // triggers of earlier writes of the application may add values, which the steps must find
		err := s.fireDeferred(ctx, "erase: deferred triggers")
		if err == nil {
			err = s.deferAgain(ctx, "erase: deferred triggers")
		}
		if err != nil {
			return make([]int64, len(steps)), err // len(steps) counts mean that the failed step is not known
		}
	}
	kept := verify.NewKept(s.db, s.store.writer, s.schema, "erase", steps, nil, key)
	if err := kept.Note(ctx); err != nil {
		return make([]int64, len(steps)), err
	}
	// If no table of the data map keeps data, triggers of other tables are the reason for the verification.
	copies := s.schema.Copies() || s.triggers || !s.schema.KeepsAny()
	all := make([]*verify.Step, len(steps))
	s.checked = all
	counts := make([]int64, len(steps))
	for i, step := range steps {
		all[i] = verify.NewStep(s.db, s.store.writer, s.schema, opOf(step), step, key)
		if !copies {
			continue
		}
		if err := all[i].Observe(ctx); err != nil {
			return counts[:i], err
		}
	}
	for i, step := range steps {
		if step.Strategy == domain.StrategyRetain {
			counts[i], err = s.applyStep(ctx, key, i, step)
		} else {
			counts[i], err = all[i].Begin(ctx)
		}
		if err != nil {
			return counts[:i], err
		}
		if step.Strategy != domain.StrategyDelete {
			continue
		}
		if failing, err := verify.Repeat(ctx, all[i:i+1]); err != nil {
			return counts[:i+failing], s.db.Fail(ctx, all[i].Op, err)
		}
	}
	if err = last(); err == nil {
		err = s.fireDeferred(ctx, "erase: deferred triggers")
	}
	if err != nil {
		return counts, err
	}
	if failing, err := verify.Repeat(ctx, all); err != nil {
		return counts[:failing], s.db.Fail(ctx, all[failing].Op, err)
	}
	for i, step := range all {
		if err := step.Copied(); err != nil {
			return counts[:i], s.db.Fail(ctx, step.Op, err)
		}
	}
	if table, via, err := kept.Check(ctx); err != nil {
		return make([]int64, indexOfStep(steps, table, via)), err
	}
	return counts, s.deferAgain(ctx, "erase: deferred triggers")
}

// indexOfStep returns the index of the last step for the rows of a path, or len(steps) if there is none.
func indexOfStep(steps []datamap.Step, table, via string) int {
	for i, step := range slices.Backward(steps) {
		if step.Target == table && step.Via == via {
			return i
		}
	}
	return len(steps)
}

// fireDeferred makes deferred triggers fire now instead of at the commit, so that a verification sees their effects. In
// the session's own transaction, it checks all deferred constraints. In a transaction of the application, it fires only
// the constraint triggers that may write to the data map's tables. Other constraints may not be satisfied yet, because
// the application may not have finished its changes.
func (s *Work) fireDeferred(ctx context.Context, op string) error {
	if s.fired {
		return nil
	}
	text := live.CheckDeferred(s.store.dialect)
	if text == "" {
		return nil
	}
	if s.db.Joined {
		triggers, err := s.lateTriggers(ctx, op)
		if err != nil || len(triggers) == 0 {
			return err
		}
		text = live.SetConstraints(triggers, "IMMEDIATE")
		s.late = slices.DeleteFunc(triggers, func(t live.ConstraintTrigger) bool { return !t.Deferred })
	}
	s.fired = true
	_, err := s.db.Write(ctx, op, text)
	return s.db.NameTrigger(op, err)
}

// lateTriggers returns the triggers that may fire at the commit of the application's transaction, and that may write to
// the data map's tables.
func (s *Work) lateTriggers(ctx context.Context, op string) ([]live.ConstraintTrigger, error) {
	if err := s.readTransaction(ctx, op); err != nil || !s.host.defers || s.host.isRead {
		return slices.Clone(s.host.late), err
	}
	late, err := s.store.schemas.ReadConstraintTriggers(ctx, s.db.QueryFor(op), op)
	s.host.isRead, s.host.late = err == nil, late
	return slices.Clone(late), s.db.Fail(ctx, op, err)
}

// mustVerify reports whether the database may keep, restore or change values behind the steps. Triggers of tables
// outside of the data map may do so if the steps lead to these tables, and in a transaction of the application also at
// the commit.
func (s *Work) mustVerify(ctx context.Context, op string, steps []datamap.Step) (bool, error) {
	keeps := s.schema.Acts(steps) || s.triggers
	if keeps || !s.db.Joined || s.store.locks.transaction == "" {
		return keeps, nil
	}
	triggers, err := s.lateTriggers(ctx, op)
	return len(triggers) > 0, err
}

// deferAgain restores the declared mode, DEFERRED, of the triggers that fireDeferred has set to IMMEDIATE. If the
// session fails, the rollback to its savepoint restores this mode.
func (s *Work) deferAgain(ctx context.Context, op string) error {
	late := s.late
	s.fired, s.late = s.fired && !s.db.Joined, nil
	if len(late) == 0 {
		return nil
	}
	_, err := s.db.Write(ctx, op, live.SetConstraints(late, "DEFERRED"))
	return err
}

// LeftOver implements ports.ErasedStore. For each step, one statement reads the values that the step should have
// erased.
func (s *Work) LeftOver(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step, erasedAt time.Time,
) (domain.Leftovers, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if _, err := plan.CheckSteps(s.store.writer.DataMap, steps); err != nil {
		return nil, err
	}
	if err := s.readSubjectRow(ctx, id, key); err != nil {
		return nil, err
	}
	if _, err := s.schema.RefuseSubject(id, "verify"); err != nil {
		return nil, err
	}
	found := domain.Leftovers{}
	for _, step := range steps {
		if found, err = s.stepToVerify(step, key).LeftOver(ctx, erasedAt, found); err != nil {
			return nil, s.explain(ctx, "verify", err, s.store.schemas.ToExport()...)
		}
	}
	return found, nil
}

func (s *Work) stepToVerify(step datamap.Step, key []any) *verify.Step {
	return verify.NewStep(s.db, s.store.writer, s.schema, "verify", step, key)
}
