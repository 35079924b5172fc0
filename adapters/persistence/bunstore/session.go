package bunstore

import (
	"context"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/installation"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/outbox"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/subject"
	"github.com/habeas-data/habeas/ports"
)

// session implements ports.Session. The first statement that needs a transaction begins the transaction. The session
// buffers appended rows. It inserts them when their number reaches maxBufferedRows, before it reads rows of the same
// kind, and when the session ends.
type session struct {
	db           conn.Session
	store        *Store
	ledger       ledger.Session
	outbox       outbox.Session
	subject      subject.Work
	preserve     func(ctx context.Context, evidence [][]any) error // writes evidence after a rollback
	installation installation.Session
	atEnd        []func(context.Context, error) // called after the commit or the rollback
}

// newSession returns a session in which nothing has run.
func (s *Store) newSession() *session {
	n := &session{store: s, preserve: s.preserve}
	n.db.Pool = s.pool
	n.ledger = s.ledgers.Session(&n.db, &n.subject)
	n.subject = s.subjects.Work(&n.db, &n.ledger)
	n.outbox = s.outbox.Session(&n.db, &n.ledger, n)
	n.installation = s.installation.Session(&n.db)
	if !s.installation.Admitted() {
		n.db.Admit = n.installation.Admit
	}
	return n
}

// newReader returns a session that changes nothing that lasts.
func (s *Store) newReader() *session {
	n := s.newSession()
	n.db.ReadOnly = true
	return n
}

// Consents, Restrictions and Audit implement ports.Session.
func (s *session) Consents() ports.ConsentStore         { return s.ledger.Consents() }
func (s *session) Restrictions() ports.RestrictionStore { return s.ledger.Restrictions() }
func (s *session) Audit() ports.AuditLog                { return s.ledger.Audit() }

// Subjects and Erased implement ports.Session.
func (s *session) Subjects() ports.SubjectStore { return &s.subject }
func (s *session) Erased() ports.ErasedStore    { return &s.subject }

// Outbox and OutboxAdmin implement ports.Session.
func (s *session) Outbox() ports.Outbox           { return &s.outbox }
func (s *session) OutboxAdmin() ports.OutboxAdmin { return &s.outbox }

// Installation implements ports.Session.
func (s *session) Installation() ports.InstallationStore { return &s.installation }

// AfterEnd implements ports.Session.
func (s *session) AfterEnd(fn func(context.Context, error)) { s.atEnd = append(s.atEnd, fn) }
