// Package ledger adds records of consents and restrictions and audit events to the rows that a session sends, and reads
// the ledgers and the audit trail.
package ledger

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
)

// Store has the statements that read the ledgers. It is safe for concurrent use.
type Store struct {
	pool    *conn.Pool
	dialect syntax.Dialect
	texts   texts
}

// New returns the statements for the tables.
func New(pool *conn.Pool, d syntax.Dialect, tables syntax.Tables) *Store {
	return &Store{pool: pool, dialect: d, texts: newTexts(tables)}
}

// Lives judges the lives of the subjects of records.
type Lives interface {
	// CloseEnded closes the ledgers of the subjects whose life has ended, after the session has sent records of them.
	CloseEnded(ctx context.Context) error

	// KeepsEarlier reports whether the records of an earlier life count for the current status, see domain.Life.
	KeepsEarlier(ctx context.Context, id domain.SubjectID) (bool, error)
}

// Session is the part of a session that adds records and reads the ledgers.
type Session struct {
	store      *Store
	db         *conn.Session
	unsent     *unsent.Session
	lives      Lives
	evidence   [][]any // events to write again after a rollback
	onRollback [][]any // events to write only after a rollback
}

// Session returns the part of a session that uses the ledgers.
func (s *Store) Session(db *conn.Session, rows *unsent.Session, lives Lives) Session {
	return Session{store: s, db: db, unsent: rows, lives: lives}
}

// send sends the rows of the session if there are rows of one of the kinds among them.
func (s *Session) send(ctx context.Context, kinds ...unsent.Kind) error {
	if err := s.unsent.Send(ctx, kinds...); err != nil {
		return err
	}
	return s.lives.CloseEnded(ctx)
}

// Remains returns the audit events to write after a rollback. One statement inserts all of them. The database may have
// committed the session although its response was lost. The events in s.evidence then exist already, so the statement
// fails because of their ids, and inserts no event.
func (s *Session) Remains() [][]any { return slices.Concat(s.evidence, s.onRollback) }
