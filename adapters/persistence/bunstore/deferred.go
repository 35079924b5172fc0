package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// constraintTrigger is a trigger of the application that may fire as late as the commit.
type constraintTrigger struct {
	table, name string
	constraint  string // its quoted name in SET CONSTRAINTS
	deferred    bool   // it does, unless the transaction says otherwise
	alone       bool   // what is said of it in SET CONSTRAINTS is said of nothing else
}

// fireDeferred fires what would fire at the commit, so that a verification sees what it does. A transaction of our own
// checks all of its constraints now. In one of the application only the triggers of the data map's tables fire: it may
// not have done what its other constraints wait for.
func (s subjectStore) fireDeferred(ctx context.Context, op string) error {
	if s.fired {
		return nil
	}
	text := s.store.dialect.checkDeferred()
	if text == "" {
		return nil
	}
	if s.joined {
		triggers, err := s.constraintTriggers(ctx, op)
		if err != nil || len(triggers) == 0 {
			return err
		}
		text = setConstraints(triggers, "IMMEDIATE")
		s.late = slices.DeleteFunc(triggers, func(t constraintTrigger) bool { return !t.deferred })
	}
	s.fired = true
	_, err := s.write(ctx, op, text)
	if strings.HasPrefix(sqlState(err), "P0") { // raised by a trigger, which checks what it is for like a constraint
		s.failed = &domain.Error{
			Code: domain.ErrConflict, Op: op, Message: "a deferred trigger refused the changes", Err: err,
		}
		return s.failed
	}
	return err
}

// deferAgain gives the triggers of the application the mode that they were declared with. If the session fails, its
// savepoint does that.
func (s subjectStore) deferAgain(ctx context.Context, op string) error {
	late := s.late
	s.fired, s.late = s.fired && !s.joined, nil
	if len(late) == 0 {
		return nil
	}
	_, err := s.write(ctx, op, setConstraints(late, "DEFERRED"))
	return err
}

func setConstraints(triggers []constraintTrigger, mode string) string {
	names := make([]string, len(triggers))
	for i, trigger := range triggers {
		names[i] = trigger.constraint
	}
	slices.Sort(names) // triggers of several tables may share one
	return "SET CONSTRAINTS " + strings.Join(slices.Compact(names), ", ") + " " + mode
}

// constraintTriggers returns the triggers of the data map's tables that may be deferred.
func (s subjectStore) constraintTriggers(ctx context.Context, op string) (triggers []constraintTrigger, err error) {
	err = s.read(ctx, op, func(rows *sql.Rows) error {
		var t constraintTrigger
		var schema, constraint string
		err := rows.Scan(&t.table, &t.name, &schema, &constraint, &t.deferred, &t.alone)
		t.constraint = quote(schema) + "." + quote(constraint)
		triggers = append(triggers, t)
		return err
	}, s.store.dialect.constraintTriggers(s.store.touched))
	if err != nil {
		return nil, err
	}
	for _, t := range triggers {
		if !t.alone {
			return nil, s.fail(ctx, op, &domain.Error{
				Code: domain.ErrConfiguration, Op: op, Message: t.table + ": the trigger " + t.name + " may fire at the commit " +
					"of the application, and cannot be fired before: another constraint has the same name. Rename one of them",
			})
		}
	}
	return triggers, nil
}
