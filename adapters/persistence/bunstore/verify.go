package bunstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// verified implements verify.Database on a session.
type verified struct{ *session }

func (v verified) Read(
	ctx context.Context, op string, each func(*sql.Rows) error, text string, args ...any,
) error {
	return v.read(ctx, op, each, text, args...)
}

func (v verified) Write(ctx context.Context, op, text string, args ...any) (int64, error) {
	return v.write(ctx, op, text, args...)
}

const (
	setProbe   = "SAVEPOINT habeas_probe"
	undoProbe  = "ROLLBACK TO SAVEPOINT habeas_probe"
	closeProbe = "RELEASE SAVEPOINT habeas_probe"
)

// Try implements verify.Database.
func (v verified) Try(ctx context.Context, op string, fn func() error) (refused bool, err error) {
	if _, err := v.write(ctx, op, setProbe); err != nil {
		return false, err
	}
	if err := fn(); err != nil {
		if ctx.Err() != nil || conn.Retryable(err) || errors.Is(err, domain.ErrUnavailable) {
			return false, err
		}
		refused, v.failed = true, nil // the savepoint undoes the failed statement
	}
	for _, text := range []string{undoProbe, closeProbe} {
		if _, err := v.write(ctx, op, text); err != nil {
			return false, err
		}
	}
	return refused, nil
}

// applyVerified runs the steps one by one in a database whose triggers, rules or views may keep values despite a
// deletion or an overwrite. It looks for remaining values after each step that deletes rows, because later steps may
// delete the rows that connect such values to the subject. It looks again after all steps. It returns
// domain.ErrUnavailable if the deadline of the context passes, for example because other transactions add rows faster
// than the steps delete them.
func (s subjectStore) applyVerified(ctx context.Context, key []any, steps []datamap.Step) ([]int64, error) {
	rows, err := s.applyChecked(ctx, key, steps)
	if errors.Is(err, context.DeadlineExceeded) {
		err = &domain.Error{Code: domain.ErrUnavailable, Op: "erase", Message: "took longer than its deadline", Err: err}
	}
	return rows, err
}

func (s subjectStore) applyChecked(ctx context.Context, key []any, steps []datamap.Step) ([]int64, error) {
	if s.joined { // triggers of earlier writes of the application may add values, which the steps must find
		err := s.fireDeferred(ctx, "erase: deferred triggers")
		if err == nil {
			err = s.deferAgain(ctx, "erase: deferred triggers")
		}
		if err != nil {
			return make([]int64, len(steps)), err // len(steps) counts mean that the failed step is not known
		}
	}
	// If no table of the data map keeps data, triggers of other tables are the reason for the verification.
	copies := s.catalog.Copies() || s.firesTriggers() || !s.catalog.KeepsAny()
	all := make([]*verify.Step, len(steps))
	counts := make([]int64, len(steps))
	for i, step := range steps {
		all[i] = verify.NewStep(verified(s), s.store.text, s.catalog, opOf(step), step, key)
		if !copies {
			continue
		}
		if err := all[i].Observe(ctx); err != nil {
			return counts[:i], err
		}
	}
	for i, step := range steps {
		n, err := all[i].Begin(ctx)
		if err != nil {
			return counts[:i], err
		}
		counts[i] = n
		if step.Strategy != domain.StrategyDelete {
			continue
		}
		if failing, err := verify.Repeat(ctx, all[i:i+1]); err != nil {
			return counts[:i+failing], s.fail(ctx, all[i].Op, err)
		}
	}
	if err := s.fireDeferred(ctx, "erase: deferred triggers"); err != nil {
		return counts, err
	}
	if failing, err := verify.Repeat(ctx, all); err != nil {
		return counts[:failing], s.fail(ctx, all[failing].Op, err)
	}
	for i, step := range all {
		if err := step.Copied(); err != nil {
			return counts[:i], s.fail(ctx, step.Op, err)
		}
	}
	return counts, s.deferAgain(ctx, "erase: deferred triggers")
}

// fireDeferred makes deferred triggers fire now instead of at the commit, so that a verification sees their effects. In
// the session's own transaction, it checks all deferred constraints. In a transaction of the application, it fires only
// the constraint triggers that may write to the data map's tables. Other constraints may not be satisfied yet, because
// the application may not have finished its changes.
func (s subjectStore) fireDeferred(ctx context.Context, op string) error {
	if s.fired {
		return nil
	}
	text := s.store.dialect.CheckDeferred()
	if text == "" {
		return nil
	}
	if s.joined {
		triggers, err := s.lateTriggers(ctx, op)
		if err != nil || len(triggers) == 0 {
			return err
		}
		text = catalog.SetConstraints(triggers, "IMMEDIATE")
		s.late = slices.DeleteFunc(triggers, func(t catalog.ConstraintTrigger) bool { return !t.Deferred })
	}
	s.fired = true
	_, err := s.write(ctx, op, text)
	return s.nameTrigger(op, err)
}

// lateTriggers returns the triggers that may fire at the commit of the application's transaction, and that may write to
// the data map's tables.
func (s *session) lateTriggers(ctx context.Context, op string) ([]catalog.ConstraintTrigger, error) {
	if err := s.readTransaction(ctx, op); err != nil || !s.host.defers || s.host.isRead {
		return slices.Clone(s.host.late), err
	}
	late, err := s.store.catalogs.ReadConstraintTriggers(ctx, s.queryFor(op), op)
	s.host.isRead, s.host.late = err == nil, late
	return slices.Clone(late), s.fail(ctx, op, err)
}

// mustVerify reports whether the database may keep or restore values that the session deletes or overwrites. Triggers
// of tables outside of the data map may do so if the deletions lead to these tables, and in a transaction of the
// application also at the commit.
func (s *session) mustVerify(ctx context.Context, op string) (bool, error) {
	keeps := s.catalog.KeepsAny() || s.firesTriggers()
	if keeps || !s.joined || s.store.locks.Transaction == "" {
		return keeps, nil
	}
	triggers, err := s.lateTriggers(ctx, op)
	return len(triggers) > 0, err
}

// firesTriggers reports whether the deletions of the erasure lead to tables with triggers.
func (s *session) firesTriggers() bool { return s.watched != nil && s.watched.before.Triggers }

// nameTrigger returns the error of a statement that checks deferred constraints. If the error has an SQLSTATE of class
// P0, the function of a constraint trigger has raised it. For such an error, nameTrigger records and returns
// domain.ErrConflict with the name of the function.
func (s *session) nameTrigger(op string, err error) error {
	if !strings.HasPrefix(conn.SQLState(err), "P0") {
		return err
	}
	s.failed = &domain.Error{
		Code: domain.ErrConflict, Op: op, Message: "a deferred trigger refused the changes" + conn.RaisedBy(err), Err: err,
	}
	return s.failed
}

// deferAgain restores the declared mode, DEFERRED, of the triggers that fireDeferred has set to IMMEDIATE. If the
// session fails, the rollback to its savepoint restores this mode.
func (s subjectStore) deferAgain(ctx context.Context, op string) error {
	late := s.late
	s.fired, s.late = s.fired && !s.joined, nil
	if len(late) == 0 {
		return nil
	}
	_, err := s.write(ctx, op, catalog.SetConstraints(late, "DEFERRED"))
	return err
}

func opOf(step datamap.Step) string { return "erase: " + string(step.Strategy) + " " + step.Target }
