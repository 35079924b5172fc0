package sqlitestore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

const (
	maxAttempts     = 3               // the second one has the write lock from its beginning on
	evidenceTimeout = 5 * time.Second // how long evidence waits for the write lock after a rollback
)

// openKey marks a context that belongs to an open session of a store.
type openKey struct{ store *Store }

// Do implements ports.SessionFactory.
func (s *Store) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	if ctx.Value(openKey{s}) != nil {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "a session is open already"}
	}
	ctx = context.WithValue(ctx, openKey{s}, true)
	for attempt := 1; ; attempt++ {
		if again, err := s.attempt(ctx, attempt, fn); !again {
			return err
		}
	}
}

// attempt calls fn once, with a new session. It asks for another attempt if the session lost a race for the write lock.
func (s *Store) attempt(
	ctx context.Context, attempt int, fn func(context.Context, ports.Session) error,
) (again bool, err error) {
	session := &session{store: s, eager: attempt > 1}
	returned := false
	defer func() { // also when fn panics
		session.end(ctx)
		again = returned && session.lostRace && attempt < maxAttempts && ctx.Err() == nil
		if session.committed || again {
			return
		}
		if lost := s.preserve(ctx, slices.Concat(session.evidence, session.onRollback)); lost != nil {
			err = errors.Join(err, lost)
		}
	}()
	err = fn(ctx, session)
	returned = true
	if err != nil {
		return false, err
	}
	return false, session.commit(ctx)
}

// preserve writes evidence in a transaction of its own, even when the context has ended.
func (s *Store) preserve(ctx context.Context, evidence []statement) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), evidenceTimeout)
	defer cancel()
	rescue := &session{store: s, held: evidence}
	defer rescue.end(ctx)
	if err := rescue.commit(ctx); err != nil {
		return &domain.Error{Op: "evidence", Message: "could not be written: " + domain.ErrorClass(err)}
	}
	return nil
}
