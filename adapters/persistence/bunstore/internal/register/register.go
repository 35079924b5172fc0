// Package register keeps the requests of data subjects and the legal holds.
package register

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Store has the tables of the register. It is safe for concurrent use.
type Store struct {
	dialect syntax.Dialect
	tables  syntax.Tables
}

// New returns the store of the tables of habeas.
func New(dialect syntax.Dialect, tables syntax.Tables) *Store { return &Store{dialect, tables} }

// Session is the part of a session that works on the register.
type Session struct {
	*Store

	db     *conn.Session
	unsent *unsent.Session
	lives  ledger.Lives
}

// Session returns the part of a session that works on the register.
func (s *Store) Session(db *conn.Session, rows *unsent.Session, lives ledger.Lives) Session {
	return Session{s, db, rows, lives}
}

// Stores returns the ports on the session.
func (s *Session) Stores() ports.Register {
	return ports.Register{Requests: requests{s}, Holds: holds{s}}
}

// The conditions of the indexes on the requests. A query repeats the condition of its index.
const (
	isOpen    = `state IN ('received', 'awaiting_subject', 'scheduled', 'on_hold')`
	isClosed  = `state IN ('fulfilled', 'refused', 'withdrawn', 'lapsed')`
	notClosed = `state NOT IN ('fulfilled', 'refused', 'withdrawn', 'lapsed')`

	// dueAt comes after all instants if the clock is suspended. In the texts of SQLite, a letter comes after the digits.
	dueAt    = `COALESCE(due_at, 'infinity')`
	closedAt = `COALESCE(closed_at, {never})`

	isHeld = `EXISTS (SELECT 1 FROM {holds} AS h WHERE h.subject_id = {subject} AND h.lifted_at IS NULL)`
)

// fill replaces each {name} in a statement by a text.
func (s *Store) fill(text string, replacements ...string) string {
	replacements = append(replacements, "columns", unsent.Columns(unsent.Requests), "open", isOpen, "closed", isClosed,
		"not closed", notClosed, "due at", dueAt, "closed at", syntax.Fill(closedAt, "never", s.never(true)),
		"may be ended", s.tables.Fill(mayBeEnded))
	return s.tables.Fill(text, replacements...)
}

// never returns the place of an instant that is not set: after all instants, or before them in a list of closed
// requests.
func (s *Store) never(closed bool) string {
	if closed {
		return syntax.Choose(s.dialect, "'-infinity'", "''")
	}
	return "'infinity'"
}

// instant returns the parameter for an instant, which is nil for the zero time.
func (s *Store) instant(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return s.dialect.Instant(at)
}

// text returns the parameter for a text, which is nil for the empty text.
func text[T ~string](value T) any {
	if value == "" {
		return nil
	}
	return string(value)
}

// lock locks the ledgers of the subject, if there is one, before the session changes the register.
func (s *Session) lock(ctx context.Context, id domain.SubjectID) error {
	s.unsent.Standing = nil
	if id.IsZero() {
		return s.db.Begin(ctx)
	}
	return s.unsent.Lock(ctx, id)
}

// send sends the requests of the session, and closes the ledgers of people whose life has ended.
func (s *Session) send(ctx context.Context) error {
	if err := s.unsent.Send(ctx, unsent.Requests); err != nil {
		return err
	}
	return s.lives.CloseEnded(ctx)
}

// conflict fails the session with domain.ErrConflict.
func (s *Session) conflict(ctx context.Context, op, message string) error {
	return s.db.Fail(ctx, op, &domain.Error{Code: domain.ErrConflict, Op: op, Message: message})
}
