package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// statement is one that is held back. Its arguments are values that share no memory with the caller's.
type statement struct {
	query string
	args  []any
}

// session implements ports.Session, on one connection that it takes with its first statement. Appends are held back until
// another statement or the end, so that a session that begins with them does not keep others from writing meanwhile.
type session struct {
	store      *Store
	conn       *sql.Conn // nil before the first statement
	eager      bool      // take the write lock with the first statement, whatever it is
	wrote      bool
	held       []statement
	evidence   []statement // what must outlive a rollback
	onRollback []statement // what only a rollback leaves, behind the evidence
	failed     error       // the first error of a statement; it fails the session
	lostRace   bool        // failed because somebody else was writing
	committed  bool
	ended      bool
}

var _ ports.Session = (*session)(nil)

func (s *session) Consents() ports.ConsentStore         { return consentStore{s} }
func (s *session) Restrictions() ports.RestrictionStore { return restrictionStore{s} }
func (s *session) Subjects() ports.SubjectStore         { return subjectStore{s} }
func (s *session) Outbox() ports.Outbox                 { return outbox{s} }
func (s *session) Audit() ports.AuditLog                { return auditLog{s} }

// usable is checked before anything is done in the session.
func (s *session) usable() error {
	if s.ended {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "the session has ended"}
	}
	return s.failed
}

// fail notes an error, which ends what the session can do, and returns it.
func (s *session) fail(err error) error {
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// failStatement notes the error of a statement in the words of package domain.
func (s *session) failStatement(ctx context.Context, err error) error {
	s.lostRace = s.lostRace || s.failed == nil && isBusy(err)
	return s.fail(failure(ctx, err))
}

// hold keeps an append for later.
func (s *session) hold(query string, args ...any) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.held = append(s.held, statement{query, args})
	return nil
}

// begin makes sure that the session has a transaction. One that begins with a read takes the write lock with its first
// write, and loses the race for it if somebody has written since.
func (s *session) begin(ctx context.Context, write bool) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return s.failStatement(ctx, err)
	}
	s.wrote = s.wrote || write
	if s.conn != nil {
		return nil
	}
	begin := "BEGIN"
	if write || s.eager {
		begin = "BEGIN IMMEDIATE"
	}
	conn, err := s.store.db.Conn(ctx)
	for isBusy(err) && ctx.Err() == nil { // the settings of a new connection may need a lock, too
		conn, err = s.store.db.Conn(ctx)
	}
	if err != nil {
		return s.failStatement(ctx, err)
	}
	s.conn = conn
	s.store.statements.Add(1)
	_, err = conn.ExecContext(ctx, begin)
	for isBusy(err) && ctx.Err() == nil {
		_, err = conn.ExecContext(ctx, begin)
	}
	if err != nil {
		return s.failStatement(ctx, err)
	}
	return nil
}

// flush sends what is held back.
func (s *session) flush(ctx context.Context) error {
	held := s.held
	s.held = nil
	for _, late := range held {
		if _, err := s.exec(ctx, late.query, late.args...); err != nil {
			return err
		}
	}
	return nil
}

// exec sends a statement that writes, and returns how many rows it wrote.
func (s *session) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := s.begin(ctx, true); err != nil {
		return 0, err
	}
	if err := s.flush(ctx); err != nil {
		return 0, err
	}
	s.store.statements.Add(1)
	result, err := s.conn.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, s.failStatement(ctx, err)
	}
	return result.RowsAffected()
}

// query sends a statement that returns rows, and calls each with every one. An error of each comes back as it is.
func (s *session) query(ctx context.Context, write bool, each func(*sql.Rows) error, query string, args ...any) error {
	if err := s.begin(ctx, write); err != nil {
		return err
	}
	s.store.statements.Add(1)
	rows, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return s.failStatement(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return s.failStatement(ctx, err)
	}
	return nil
}

// collect returns what scan makes of each row of a statement, which sees what was held back.
func collect[T any](
	ctx context.Context, s *session, write bool, scan func(*sql.Rows) (T, error), query string, args ...any,
) (found []T, err error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	err = s.query(ctx, write, func(rows *sql.Rows) error {
		item, err := scan(rows)
		if err != nil {
			return s.failStatement(ctx, err)
		}
		found = append(found, item)
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// commit ends the transaction for good. It is not interrupted: nobody would know what became of it.
func (s *session) commit(ctx context.Context) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return s.failStatement(ctx, err)
	}
	if s.conn != nil {
		if _, err := s.conn.ExecContext(context.WithoutCancel(ctx), "COMMIT"); err != nil {
			return s.failStatement(ctx, err)
		}
	}
	s.committed = true
	return nil
}

// end closes the session: what it has not committed is gone.
func (s *session) end(ctx context.Context) {
	s.ended = true
	if s.conn == nil {
		return
	}
	if !s.committed {
		if _, err := s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err != nil {
			_ = s.conn.Raw(func(any) error { return driver.ErrBadConn }) // whatever state it is in, nobody gets it again
		}
	}
	_ = s.conn.Close() // which gives it back
}
