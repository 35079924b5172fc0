package bunstore

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/duties"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/installation"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/outbox"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/register"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/subject"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// session implements ports.Session. The first statement that needs a transaction begins the transaction. The session
// holds appended rows back, see unsent.Session.
type session struct {
	db           conn.Session
	store        *Store
	unsent       unsent.Session
	ledger       ledger.Session
	outbox       outbox.Session
	subject      subject.Work
	register     register.Session
	duties       duties.Session
	preserve     func(ctx context.Context, evidence [][]any) error // writes evidence after a rollback
	installation installation.Session
}

// newSession returns a session in which nothing has run.
func (s *Store) newSession() *session {
	n := &session{store: s, preserve: s.preserve}
	n.db.Pool = s.pool
	n.unsent = s.unsent.Session(&n.db)
	n.outbox = s.outbox.Session(&n.db, &n.unsent)
	n.subject = s.subjects.Work(&n.db, &n.unsent)
	n.ledger = s.ledgers.Session(&n.db, &n.unsent, &n.subject)
	n.register = s.register.Session(&n.db, &n.unsent, &n.subject)
	n.duties = s.duties.Session(&n.db)
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

// Register implements ports.Session.
func (s *session) Register() ports.Register { return s.register.Stores() }

// Subjects and Erased implement ports.Session.
func (s *session) Subjects() ports.SubjectStore { return &s.subject }
func (s *session) Erased() ports.ErasedStore    { return &s.subject }

// Outbox and OutboxAdmin implement ports.Session.
func (s *session) Outbox() ports.Outbox           { return &s.outbox }
func (s *session) OutboxAdmin() ports.OutboxAdmin { return &s.outbox }

// Installation implements ports.Session.
func (s *session) Installation() ports.InstallationStore {
	return installationStore{&s.installation, &s.duties}
}

// installationStore implements ports.InstallationStore.
type installationStore struct {
	*installation.Session

	duties *duties.Session
}

// Duties implements ports.InstallationStore.
func (s installationStore) Duties() ports.DutyStore { return s.duties }

// AfterEnd implements ports.Session.
func (s *session) AfterEnd(fn func(context.Context, error)) { s.db.AtEnd = append(s.db.AtEnd, fn) }

// evidenceTimeout is the maximum duration of writing evidence after a rollback.
const evidenceTimeout = 5 * time.Second

// activeKey is the key of a context value. Only the contexts of open sessions on db have this value.
type activeKey struct{ db *bun.DB }

// Do implements ports.SessionFactory. Reads before the first write of the session run outside a transaction. As in a
// READ COMMITTED transaction, each read sees all rows that are committed before it starts. On PostgreSQL, a session
// that only appends records sends a single statement.
func (s *Store) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	outer := ctx
	ctx, err := s.enter(ctx)
	if err != nil {
		return err
	}
	ctx, observed := ports.StartActivity(ctx, s.observer, observation.Activity{Kind: observation.ActivitySession})
	last, attempt, returned := s.newSession(), 1, false
	defer func() {
		if !returned { // fn panicked or called runtime.Goexit
			observed.End(observation.ActivityEnd{Outcome: domain.OutcomePanic, Retries: attempt - 1})
			last.notifyEnd(outer, errPanicked)
		}
	}()
	err = last.run(ctx, fn)
	for ; conn.Again(ctx, err, attempt); attempt++ {
		last = s.newSession()
		err = last.run(ctx, fn)
	}
	err = last.afterRollback(ctx, err)
	returned = true
	observed.End(observation.ActivityEnd{Outcome: domain.OutcomeOf(err), Retries: attempt - 1})
	if err == nil && last.outbox.Enqueued {
		s.announce(ctx)
	}
	last.notifyEnd(outer, err)
	return err
}

// errPanicked is the error that the functions registered with AfterEnd get if the function of the session panicked.
var errPanicked = &domain.Error{Op: "session", Message: "its function panicked"}

// notifyEnd calls the functions registered with AfterEnd.
func (s *session) notifyEnd(ctx context.Context, err error) {
	for _, fn := range s.db.AtEnd {
		fn(ctx, err)
	}
}

// enter returns the context of a new session. It returns domain.ErrSession if ctx belongs to an open session.
func (s *Store) enter(ctx context.Context) (context.Context, error) {
	if ctx.Value(activeKey{s.db}) != nil {
		return nil, &domain.Error{Code: domain.ErrSession, Op: "session", Message: "a session is open already"}
	}
	return context.WithValue(ctx, activeKey{s.db}, true), nil
}

// send sends the rows of the session, and closes the ledgers of people whose life has ended.
func (s *session) send(ctx context.Context) error {
	if err := s.unsent.Flush(ctx); err != nil {
		return err
	}
	return s.subject.CloseEnded(ctx)
}

// commit sends the rows of the session and commits the transaction.
func (s *session) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "commit", err)
	}
	if s.db.Tx == nil && s.store.installation.Admitted() {
		if done, err := s.unsent.SendAlone(ctx); done {
			return err
		}
	}
	if err := s.send(ctx); err != nil || s.db.Tx == nil {
		return err
	}
	if s.db.Joined {
		if err := s.announceInside(ctx); err != nil {
			return err
		}
	}
	var broken map[live.ForeignKey]int64
	err := s.db.Tx.CommitOr(ctx, func(err error) { // if a query hook panics here, run rolls the transaction back
		if errors.Is(conn.Wrap(ctx, "commit", err), domain.ErrConflict) {
			broken, _ = s.brokenKeys(ctx) // without them, the error does not name the table
		}
	})
	s.db.Tx = nil // Commit ends the transaction even if it returns an error
	if key, ok := s.brokenNow(ctx, broken); ok {
		return &domain.Error{Code: domain.ErrConflict, Op: "commit", Message: key.Refusal(), Err: err}
	}
	if err == nil && !s.db.Joined {
		s.installation.Committed()
	}
	return conn.Wrap(ctx, "commit", err)
}

// afterRollback writes the evidence if the session has failed. The parameter err is the error of the session, or nil.
// afterRollback returns err, joined with a second error if the evidence could not be written.
func (s *session) afterRollback(ctx context.Context, err error) error {
	if err == nil || len(s.remains()) == 0 {
		return err
	}
	if lost := s.preserve(ctx, s.remains()); lost != nil { // only the class of this error is reported: err is the cause
		return errors.Join(err, &domain.Error{Op: "evidence", Message: "could not be written: " + domain.ErrorClass(lost)})
	}
	return err
}

// remains returns the audit events to write after a rollback.
func (s *session) remains() [][]any {
	if s.installation.Refused { // the trail belongs to another data map
		return nil
	}
	return s.ledger.Remains()
}

// run calls fn and commits the session. It rolls the session back if fn fails or panics, or if the commit fails.
func (s *session) run(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	returned := false
	defer func() {
		s.db.Ended = true
		s.db.RollBack(ctx)
		if !returned && len(s.remains()) > 0 { // a panic is unwinding the stack
			_ = s.preserve(ctx, s.remains())
		}
	}()
	err := fn(ctx, s)
	if err == nil || s.db.Failed != nil && conn.Retryable(s.db.Failed) {
		err = s.db.Failed
	}
	if err == nil {
		err = s.commit(ctx)
	}
	returned = true
	return err
}

// preserve writes evidence in its own transaction, even if the context of the session has ended. It takes at most
// evidenceTimeout, and ends earlier if ports.EvidenceDeadline returns an earlier deadline.
func (s *Store) preserve(ctx context.Context, evidence [][]any) error {
	ctx, cancel := forEvidence(ctx)
	defer cancel()
	return conn.Retry(ctx, func() error {
		// The session may have failed before its first statement, and so before the comparison of its data map.
		reader := s.newReader()
		if err := reader.db.Ready(ctx); err != nil {
			return err
		}
		return reader.unsent.AddAlone(ctx, evidence)
	})
}

// forEvidence returns the context in which evidence is written after the session with the given context.
func forEvidence(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline := time.Now().Add(evidenceTimeout)
	if limit, ok := ports.EvidenceDeadline(ctx); ok && limit.Before(deadline) {
		deadline = limit
	}
	return context.WithDeadline(context.WithoutCancel(ctx), deadline)
}

// notifyTimeout is the timeout of a notification. If a notification is lost, workers find the outbox entries at their
// next poll.
const notifyTimeout = 5 * time.Second

// announce notifies workers of new outbox entries after a commit: first the worker in this process, then the workers in
// other processes.
func (s *Store) announce(ctx context.Context) {
	if s.wake != nil {
		s.wake()
	}
	text := s.outbox.Notification
	if text == "" {
		return
	}
	s.others.Request(func() {
		defer func() { _ = recover() }() // a query hook of the application may panic, and must not end the process
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
		defer cancel()
		_ = s.pool.Notify(ctx, text) // after an error, workers find the entries by polling
	})
}

// announceInside sends the notification of new outbox entries inside the transaction of the application. PostgreSQL
// delivers the notification when the application commits.
func (s *session) announceInside(ctx context.Context) error {
	text := s.store.outbox.Notification
	if !s.outbox.Enqueued || text == "" {
		return nil
	}
	return s.db.Read(ctx, "notify", conn.Ignore, text)
}

// Rehearse implements ports.SessionFactory. On SQLite, it reads every table that has deferrable foreign keys, and other
// sessions cannot write until it returns.
func (s *Store) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	ctx, err := s.enter(ctx)
	if err != nil {
		return err
	}
	session := s.newReader()
	return session.rehearse(ports.WithRehearsal(ctx), fn)
}

// rehearse calls fn, checks the constraints that a commit would check, and rolls the session back, even if fn panics.
func (s *session) rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	defer func() {
		s.db.Ended = true
		s.db.RollBack(ctx)
	}()
	err := fn(ctx, s)
	if err == nil {
		err = s.db.Failed
	}
	if err == nil {
		err = s.checkCommit(ctx)
	}
	return err
}

// checkCommit sends the rows of the session and returns the error that a commit would return.
func (s *session) checkCommit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "commit", err)
	}
	if err := s.send(ctx); err != nil || s.db.Tx == nil {
		return err
	}
	text := live.CheckDeferred(s.store.dialect)
	if text == "" {
		return s.checkKeys(ctx)
	}
	_, err := s.db.Write(ctx, "commit", text)
	return s.db.NameTrigger("commit", err)
}

// checkKeys returns domain.ErrConflict if the session violates a deferred foreign key of SQLite. It counts the
// violations of each foreign key, rolls the session back, and counts them again. If a number is lower after the
// rollback, the session has added violations. Violations from before the session do not count, because a commit does
// not fail because of them.
func (s *session) checkKeys(ctx context.Context) error {
	broken, err := s.brokenKeys(ctx)
	if err != nil || len(broken) == 0 {
		return err
	}
	s.db.RollBack(ctx)
	if key, ok := s.brokenNow(ctx, broken); ok {
		return &domain.Error{Code: domain.ErrConflict, Op: "commit", Message: key.Refusal()}
	}
	return s.db.Failed
}

// brokenNow returns a foreign key of which more rows are broken than in the database. The transaction in which they
// were counted must have ended.
func (s *session) brokenNow(ctx context.Context, broken map[live.ForeignKey]int64) (live.ForeignKey, bool) {
	if len(broken) == 0 {
		return live.ForeignKey{}, false
	}
	before, err := s.brokenKeys(ctx)
	for key, n := range broken {
		if err == nil && n > before[key] {
			return key, true
		}
	}
	return live.ForeignKey{}, false
}

func (s *session) brokenKeys(ctx context.Context) (map[live.ForeignKey]int64, error) {
	return s.store.schemas.ReadBrokenKeys(ctx, s.db.QueryFor("commit"))
}
