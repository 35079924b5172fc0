package bunstore

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// evidenceTimeout is the maximum duration of writing evidence (audit events that are kept even if the session fails)
// after a rollback.
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
	ctx, observed := ports.StartActivity(ctx, s.observer, domain.Activity{Kind: domain.ActivitySession})
	last, attempt, returned := s.newSession(), 1, false
	defer func() {
		if !returned { // fn panicked or called runtime.Goexit
			observed.End(domain.ActivityEnd{Outcome: domain.OutcomePanic, Retries: attempt - 1})
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
	observed.End(domain.ActivityEnd{Outcome: domain.OutcomeOf(err), Retries: attempt - 1})
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
	for _, fn := range s.atEnd {
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

// commit inserts the buffered rows and commits the transaction.
func (s *session) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "commit", err)
	}
	if s.db.Tx == nil && s.store.installation.Admitted() {
		if done, err := s.ledger.AppendAlone(ctx); done {
			return err
		}
	}
	if err := s.ledger.Flush(ctx); err != nil || s.db.Tx == nil {
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

// afterRollback writes the evidence (audit events that remain even if the session fails) if the session has failed. The
// parameter err is the error of the session, or nil. afterRollback returns err, joined with a second error if the
// evidence could not be written.
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

// preserve writes evidence (audit events) in its own transaction, even if the context of the session has ended. It
// takes at most evidenceTimeout, and ends earlier if ports.EvidenceDeadline returns an earlier deadline.
func (s *Store) preserve(ctx context.Context, evidence [][]any) error {
	deadline := time.Now().Add(evidenceTimeout)
	if limit, ok := ports.EvidenceDeadline(ctx); ok && limit.Before(deadline) {
		deadline = limit
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	return conn.Retry(ctx, func() error {
		// The session may have failed before its first statement, and so before the comparison of its data map.
		if err := s.newReader().db.Ready(ctx); err != nil {
			return err
		}
		return conn.Wrap(ctx, "append", s.ledgers.Append(ctx, &ledger.UnsentRows{ledger.Events: evidence}))
	})
}
