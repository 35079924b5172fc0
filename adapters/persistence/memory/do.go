package memory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// evidenceTimeout limits how long a store waits for the write lock to store evidence. Evidence is audit events that are
// stored even if their session is rolled back.
const evidenceTimeout = 5 * time.Second

// openKey is the context key that marks the context of an open session of a store.
type openKey struct{ store *Store }

// Do implements ports.SessionFactory.
func (s *Store) Do(ctx context.Context, fn func(context.Context, ports.Session) error) (err error) {
	outer := ctx
	ctx, err = s.enter(ctx)
	if err != nil {
		return err
	}
	ctx, observed := ports.StartActivity(ctx, s.observer, observation.Activity{Kind: observation.ActivitySession})
	session, returned := &session{store: s}, false
	defer func() { // also if fn panics
		session.end()
		if !session.committed && !session.refused {
			if lost := session.preserve(ctx); lost != nil {
				err = errors.Join(err, lost)
			}
		}
		ended, outcome := err, domain.OutcomeOf(err)
		if !returned {
			ended, outcome = errPanicked, domain.OutcomePanic
		}
		observed.End(observation.ActivityEnd{Outcome: outcome})
		if session.committed {
			session.notify()
		}
		for _, fn := range session.atEnd {
			fn(outer, ended)
		}
	}()
	err = fn(ctx, session)
	if err == nil {
		err = session.commit(ctx)
	}
	returned = true
	return err
}

// errPanicked is the error that the functions of Session.AfterEnd receive if the function that was passed to Store.Do
// panicked.
var errPanicked = &domain.Error{Op: "session", Message: "its function panicked"}

// enter returns the context for a new session. It returns domain.ErrSession if ctx is already the context of a session.
func (s *Store) enter(ctx context.Context) (context.Context, error) {
	if ctx.Value(openKey{s}) != nil {
		return nil, &domain.Error{Code: domain.ErrSession, Op: "session", Message: "a session is open already"}
	}
	return context.WithValue(ctx, openKey{s}, true), nil
}

// notify calls Options.Enqueued if the session has added entries to the outbox.
func (s *session) notify() {
	if s.enqueued && s.store.wake != nil {
		s.store.wake()
	}
}

// preserve stores the evidence of a session that was rolled back: the audit events that must survive the rollback. It
// uses a new session. It stores the evidence even if ctx has ended.
func (s *session) preserve(ctx context.Context) error {
	deadline := time.Now().Add(evidenceTimeout)
	if limit, ok := ports.EvidenceDeadline(ctx); ok && limit.Before(deadline) {
		deadline = limit
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	rescue := &session{store: s.store, unwritten: newRecords{events: slices.Concat(s.evidence, s.onRollback)}}
	defer rescue.end()
	if err := rescue.commit(ctx); err != nil {
		return &domain.Error{Op: "evidence", Message: "could not be written: " + domain.ErrorClass(err)}
	}
	return nil
}
