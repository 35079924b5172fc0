package bunstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

const (
	maxAttempts     = 5
	firstBackoff    = 10 * time.Millisecond // doubled for each further attempt, and spread at random
	evidenceTimeout = 5 * time.Second
)

// transaction is an open transaction of either database.
type transaction interface {
	conn() bun.IConn
	commit(ctx context.Context) error
	rollback(ctx context.Context) error
}

// activeKey marks a context that belongs to an open session on a database.
type activeKey struct{ db *bun.DB }

// Do implements ports.SessionFactory. Reads that come before the session's first write run outside a transaction, as
// they would see the same in one (READ COMMITTED); a session that only appends on PostgreSQL is a single statement.
func (s *Store) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	if ctx.Value(activeKey{s.db}) != nil {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "a session is open already"}
	}
	ctx = context.WithValue(ctx, activeKey{s.db}, true)
	last := &session{store: s, preserve: s.preserve}
	err := last.run(ctx, fn)
	for attempt := 1; again(ctx, err, attempt); attempt++ {
		last = &session{store: s, preserve: s.preserve}
		err = last.run(ctx, fn)
	}
	if err == nil && last.enqueued {
		s.announce(ctx)
	}
	return last.afterRollback(ctx, err)
}

// retry runs a transaction, again if it lost against another one.
func retry(ctx context.Context, transaction func() error) error {
	err := transaction()
	for attempt := 1; again(ctx, err, attempt); attempt++ {
		err = transaction()
	}
	return err
}

// again reports whether a transaction that failed with err is to be run again: if it lost against another one, at most
// maxAttempts times. It waits before it returns true.
func again(ctx context.Context, err error, attempt int) bool {
	return err != nil && attempt < maxAttempts && retryable(err) && backOff(ctx, attempt)
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
		if s.tx != nil {
			_ = s.tx.rollback(context.WithoutCancel(ctx)) // nothing is left to be done about a failure
		}
		if !returned && len(s.remains()) > 0 { // a panic is passing through
			_ = s.preserve(ctx, s.remains())
		}
	}()
	err := fn(ctx, s)
	if err == nil || s.failed != nil && retryable(s.failed) {
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
	return retry(ctx, func() error {
		return wrap(ctx, "append", s.append(ctx, &appends{events: evidence}))
	})
}

// backOff waits before another attempt, and reports false when the context ends first.
func backOff(ctx context.Context, attempt int) bool {
	wait := firstBackoff << (attempt - 1)
	timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // spreads retries; nothing depends on it being secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
