package bunstore

import (
	"context"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/installation"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/outbox"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
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
	preserve     func(ctx context.Context, evidence [][]any) error // writes evidence after a rollback
	installation installation.Session
	subject      domain.SubjectID               // the subject whose key values are in keys
	keys         []any                          // the cached result of the method key
	erasing      []erasedSubject                // locked for an erasure
	catalog      *live.Catalog                  // of the application's tables; nil until it is needed
	rectified    []*verify.Step                 // earlier rectifications, verified after each later one
	host         hostTransaction                // only if joined
	fired        bool                           // deferred triggers are set to IMMEDIATE
	late         []live.ConstraintTrigger       // triggers that deferAgain must set back to DEFERRED
	atEnd        []func(context.Context, error) // called after the commit or the rollback
	triggers     bool                           // the deletions of the erasure lead to tables with triggers
}

// newSession returns a session in which nothing has run.
func (s *Store) newSession() *session {
	n := &session{store: s, preserve: s.preserve}
	n.db.Pool = s.pool
	n.ledger = s.ledgers.Session(&n.db, n)
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

// Outbox and OutboxAdmin implement ports.Session.
func (s *session) Outbox() ports.Outbox           { return &s.outbox }
func (s *session) OutboxAdmin() ports.OutboxAdmin { return &s.outbox }

// Installation implements ports.Session.
func (s *session) Installation() ports.InstallationStore { return &s.installation }

// AfterEnd implements ports.Session.
func (s *session) AfterEnd(fn func(context.Context, error)) { s.atEnd = append(s.atEnd, fn) }

// key returns the values of the subject's key columns. It caches the values of the last subject. The caller must not
// change the returned slice.
func (s *session) key(id domain.SubjectID) ([]any, error) {
	if s.keys != nil && s.subject == id {
		return s.keys, nil
	}
	keys, err := s.store.text.DataMap.Key(id)
	if err == nil {
		s.subject, s.keys = id, keys
	}
	return keys, err
}

// loadCatalog sets s.catalog to the catalog with the fingerprint. It takes the catalog from the store's cache, or reads
// it from the database.
func (s *session) loadCatalog(ctx context.Context, fingerprint string) (err error) {
	if s.catalog = s.store.catalogs.Known(fingerprint); s.catalog != nil {
		return nil
	}
	s.catalog, err = s.store.catalogs.Read(ctx, s.db.QueryFor("inspect"), fingerprint)
	return err
}

// explain returns an error that names the table and the reason if the database refused a statement. The reason is a
// missing privilege, or an object that does not allow the statement, such as a view. For other errors, explain returns
// err. Before explain looks up the privileges, it rolls the transaction back. In a transaction of the application, it
// rolls back only to the savepoint of the session.
func (s *session) explain(ctx context.Context, op string, err error, needs ...live.Need) error {
	state := conn.SQLState(err)
	if state != "42501" && state != "42809" || s.db.Failed == nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	query, rolledBack := s.db.Undo(ctx)
	if !rolledBack {
		return err
	}
	why := s.store.catalogs.FindLacking(ctx, query, needs)
	switch {
	case len(why) > 0:
	case state == "42809":
		return err
	default:
		why = append(why, live.Unexplained(needs))
	}
	s.db.Failed = &domain.Error{Code: domain.ErrConfiguration, Op: op, Message: strings.Join(why, "; "), Err: err}
	return s.db.Failed
}
