package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// need is what a statement needs of a table.
type need struct {
	table      string
	privileges []string
}

// needOf is what a step needs.
func needOf(step domain.Step) need {
	switch step.Strategy {
	case domain.StrategyDelete:
		return need{step.Target, []string{"SELECT", "DELETE"}}
	case domain.StrategyAnonymize:
		return need{step.Target, []string{"SELECT", "UPDATE"}}
	case domain.StrategyRetain:
	}
	return need{step.Target, []string{"SELECT"}}
}

// explain returns err. If the database has refused a statement because of the privileges of this role or of the kind of
// a table, it returns an error that names the table. The transaction is lost in both cases.
func (s *session) explain(ctx context.Context, op string, err error, needs ...need) error {
	state := sqlState(err)
	if state != "42501" && state != "42809" || s.failed == nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	read := s.store.query
	if host, ok := s.tx.(joinedTransaction); ok {
		if joined(host).savepoint(ctx, "ROLLBACK TO SAVEPOINT habeas_session") != nil {
			return err
		}
		read = func(ctx context.Context, each func(*sql.Rows) error, text string, args ...any) error {
			return query(ctx, s.store.db, host.conn(), each, text, args...)
		}
	} else if s.tx != nil {
		_ = s.tx.rollback(ctx) // as the session would at its end
		s.tx = nil
	}
	var why []string
	for _, n := range needs {
		reason := ""
		failed := read(ctx, func(rows *sql.Rows) error {
			var missing sql.NullString
			err := rows.Scan(&missing)
			reason = missing.String
			return err
		}, s.store.dialect.lacks(n))
		if failed == nil && reason != "" {
			why = append(why, n.table+": "+reason)
		}
	}
	if len(why) == 0 && state == "42809" {
		return err
	}
	if len(why) == 0 {
		why = append(why, unexplained(needs))
	}
	s.failed = &domain.Error{Code: domain.ErrConfiguration, Op: op, Message: strings.Join(why, "; "), Err: err}
	return s.failed
}

// unexplained is the reason where this role has all privileges on the tables, as a whole.
func unexplained(needs []need) string {
	names := make([]string, len(needs))
	for i, n := range needs {
		names[i] = n.table
	}
	return strings.Join(names, ", ") +
		": this role lacks a privilege: on some of the columns, on a table below a view, or" +
		" on something that a trigger, a rule or a policy needs"
}

// needsOfExport are those of the tables that an export reads.
func (s *Store) needsOfExport() []need {
	needs := make([]need, len(s.touched))
	for i, table := range s.touched {
		needs[i] = need{table.Name, []string{"SELECT"}}
	}
	return needs
}

// needsOfLock are those of the tables whose rows an erasure locks.
func (s *Store) needsOfLock() []need {
	needs := make([]need, len(s.locking.tables))
	for i, table := range s.locking.tables {
		needs[i] = need{table, []string{"SELECT", "UPDATE"}}
	}
	return needs
}

// refuseUnlocked returns an error if rows of a table that an erasure locks cannot be locked.
func (s *Store) refuseUnlocked(live *catalog) error {
	if live == nil {
		return nil
	}
	i := slices.IndexFunc(s.locking.tables, func(table string) bool { return live.tables[table].kind != "" })
	if i < 0 {
		return nil
	}
	table := s.locking.tables[i]
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: "lock subject", Message: table + ": " + cannotBeLocked(live.tables[table].kind),
	}
}

func cannotBeLocked(kind string) string {
	return "is " + kind + " or a view of one, whose rows an erasure cannot lock"
}
