package bunstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// evidenceTimeout bounds how long evidence is written after a rollback.
const evidenceTimeout = 5 * time.Second

// activeKey marks a context that belongs to an open session on a database.
type activeKey struct{ db *bun.DB }

// Do implements ports.SessionFactory. Reads that come before the session's first write run outside a transaction, as
// they would see the same in one (READ COMMITTED); a session that only appends on PostgreSQL is a single statement.
func (s *Store) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	outer := ctx
	ctx, err := s.enter(ctx)
	if err != nil {
		return err
	}
	ctx, observed := ports.Begin(ctx, s.observer, domain.Activity{Kind: domain.ActivitySession})
	last, attempt, returned := &session{store: s, preserve: s.preserve}, 1, false
	defer func() {
		if !returned { // fn panicked, or ended its goroutine
			observed.End(domain.Ended{Outcome: domain.OutcomePanic, Retries: attempt - 1})
			last.tellEnd(outer, errPanicked)
		}
	}()
	err = last.run(ctx, fn)
	for ; conn.Again(ctx, err, attempt); attempt++ {
		last = &session{store: s, preserve: s.preserve}
		err = last.run(ctx, fn)
	}
	err = last.afterRollback(ctx, err)
	returned = true
	observed.End(domain.Ended{Outcome: domain.OutcomeOf(err), Retries: attempt - 1})
	last.tellEnd(outer, err)
	if err != nil {
		return err
	}
	if last.enqueued {
		s.announce(ctx)
	}
	for _, fn := range last.after {
		fn(outer)
	}
	return nil
}

// errPanicked is the end of a session whose function panicked.
var errPanicked = &domain.Error{Op: "session", Message: "its function panicked"}

// tellEnd calls what is called at the end of the session.
func (s *session) tellEnd(ctx context.Context, err error) {
	for _, fn := range s.atEnd {
		fn(ctx, err)
	}
}

// enter returns the context of a session. Returns domain.ErrSession if ctx is one.
func (s *Store) enter(ctx context.Context) (context.Context, error) {
	if ctx.Value(activeKey{s.db}) != nil {
		return nil, &domain.Error{Code: domain.ErrSession, Op: "session", Message: "a session is open already"}
	}
	return context.WithValue(ctx, activeKey{s.db}, true), nil
}

// commit sends what is held and makes everything durable.
func (s *session) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "commit", err)
	}
	if s.tx == nil && s.store.inserts.IsOne(&s.held) { // which is a transaction of its own
		if s.store.shares() && len(s.evidence)+len(s.onRollback) == 0 { // evidence must not be in doubt
			return s.fail(ctx, "append", s.store.appending.Do(ctx, &s.held))
		}
		return s.fail(ctx, "append", s.store.append(ctx, &s.held))
	}
	if err := s.flush(ctx); err != nil || s.tx == nil {
		return err
	}
	if s.joined {
		if err := s.announceInside(ctx); err != nil {
			return err
		}
	}
	err := s.tx.Commit(ctx) // or a panic of a query hook, after which the transaction is rolled back
	s.tx = nil              // ended by its commit, whatever came of it
	return conn.Wrap(ctx, "commit", err)
}

// afterRollback writes the evidence when the session failed with err, which it returns.
func (s *session) afterRollback(ctx context.Context, err error) error {
	if err == nil || len(s.remains()) == 0 {
		return err
	}
	if lost := s.preserve(ctx, s.remains()); lost != nil { // only its class is reported: err is the cause
		return errors.Join(err, &domain.Error{Op: "evidence", Message: "could not be written: " + domain.ErrorClass(lost)})
	}
	return err
}

// remains is what a rollback leaves. It is inserted by one statement, so that all of it fails where a part of it is
// there already: then the session did commit, although its end was not heard of.
func (s *session) remains() [][]any { return slices.Concat(s.evidence, s.onRollback) }

// run calls fn and ends the session: with a commit, or else with a rollback, also when fn panics.
func (s *session) run(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	returned := false
	defer func() {
		s.ended = true
		s.rollBack(ctx)
		if !returned && len(s.remains()) > 0 { // a panic is passing through
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

// preserve writes evidence in a transaction of its own, even when the context of the session has ended. It returns by
// the deadline that the caller set for evidence, and after evidenceTimeout at the latest.
func (s *Store) preserve(ctx context.Context, evidence [][]any) error {
	deadline := time.Now().Add(evidenceTimeout)
	if limit, ok := ports.EvidenceDeadline(ctx); ok && limit.Before(deadline) {
		deadline = limit
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	return conn.Retry(ctx, func() error {
		return conn.Wrap(ctx, "append", s.append(ctx, &sqltext.Appends{sqltext.Events: evidence}))
	})
}
