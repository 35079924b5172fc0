package bunstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
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
	ctx, observed := ports.StartActivity(ctx, s.observer, observation.Activity{Kind: observation.ActivitySession})
	last, attempt, returned := &session{store: s, preserve: s.preserve}, 1, false
	defer func() {
		if !returned { // fn panicked or called runtime.Goexit
			observed.End(observation.ActivityEnd{Outcome: domain.OutcomePanic, Retries: attempt - 1})
			last.notifyEnd(outer, errPanicked)
		}
	}()
	err = last.run(ctx, fn)
	for ; conn.Again(ctx, err, attempt); attempt++ {
		last = &session{store: s, preserve: s.preserve}
		err = last.run(ctx, fn)
	}
	err = last.afterRollback(ctx, err)
	returned = true
	observed.End(observation.ActivityEnd{Outcome: domain.OutcomeOf(err), Retries: attempt - 1})
	if err == nil && last.enqueued {
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
	// A single statement is its own transaction.
	if s.tx == nil && s.store.admitted.Load() && s.store.inserts.FitsAlone(&s.buffered) {
		// A session with evidence (audit events that must be written even if the session fails) sends its own statement. If
		// its context ended during a shared statement, the session would not know whether its rows were written, and could
		// write its evidence twice.
		if s.store.canShare() && len(s.evidence)+len(s.onRollback) == 0 {
			return s.fail(ctx, "append", s.store.appending.Do(ctx, &s.buffered))
		}
		return s.fail(ctx, "append", s.store.append(ctx, &s.buffered))
	}
	if err := s.flush(ctx); err != nil || s.tx == nil {
		return err
	}
	if s.joined {
		if err := s.announceInside(ctx); err != nil {
			return err
		}
	}
	var broken map[catalog.ForeignKey]int64
	err := s.tx.CommitOr(ctx, func(err error) { // if a query hook panics here, run rolls the transaction back
		if errors.Is(conn.Wrap(ctx, "commit", err), domain.ErrConflict) {
			broken, _ = s.brokenKeys(ctx) // without them, the error does not name the table
		}
	})
	s.tx = nil // Commit ends the transaction even if it returns an error
	if key, ok := s.brokenNow(ctx, broken); ok {
		return &domain.Error{Code: domain.ErrConflict, Op: "commit", Message: key.Refusal(), Err: err}
	}
	if err == nil && s.admission == recordedHere && !s.joined {
		s.store.admitted.Store(true)
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

// remains returns the audit events to write after a rollback. One statement inserts all of them. The database may have
// committed the session although its response was lost. The events in s.evidence then exist already, so the statement
// fails because of their ids, and inserts no event.
func (s *session) remains() [][]any {
	if s.refused { // the trail belongs to another data map
		return nil
	}
	return slices.Concat(s.evidence, s.onRollback)
}

// run calls fn and commits the session. It rolls the session back if fn fails or panics, or if the commit fails.
func (s *session) run(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	returned := false
	defer func() {
		s.ended = true
		s.rollBack(ctx)
		if !returned && len(s.remains()) > 0 { // a panic is unwinding the stack
			_ = s.preserve(ctx, s.remains())
		}
	}()
	err := fn(ctx, s)
	if err == nil || s.failed != nil && conn.Retryable(s.failed) {
		err = s.failed
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
		if err := (&session{store: s, readOnly: true}).admit(ctx); err != nil {
			return err
		}
		return conn.Wrap(ctx, "append", s.append(ctx, &sqltext.UnsentRows{sqltext.Events: evidence}))
	})
}
