package memory

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// session implements ports.Session. What is appended is held back until something of the kind is read, or anything is
// written, or the session ends: a session that only appends, however long it takes, has the write lock for no longer
// than its commit does.
type session struct {
	store      *Store
	state      *state // what it sees, with its own writes; nil before the first one, and without the write lock
	held       appends
	evidence   []domain.AuditEvent     // what must outlive a rollback
	onRollback []domain.AuditEvent     // what only a rollback leaves, behind the evidence
	failed     error                   // the first error of an operation; it fails the session
	enqueued   bool                    // the outbox has new work once the session has committed
	after      []func(context.Context) // called after the commit
	atEnd      []func(context.Context, error)
	committed  bool
	ended      bool
}

var (
	_ ports.CommitNotifier = (*session)(nil)
	_ ports.EndNotifier    = (*session)(nil)
)

func (s *session) Consents() ports.ConsentStore         { return consentStore{s} }
func (s *session) Restrictions() ports.RestrictionStore { return restrictionStore{s} }
func (s *session) Subjects() ports.SubjectStore         { return subjectStore{s} }
func (s *session) Outbox() ports.Outbox                 { return outbox{s} }
func (s *session) Audit() ports.AuditLog                { return auditLog{s} }

// AfterCommit implements ports.CommitNotifier.
func (s *session) AfterCommit(fn func(context.Context)) { s.after = append(s.after, fn) }

// AfterEnd implements ports.EndNotifier.
func (s *session) AfterEnd(fn func(context.Context, error)) { s.atEnd = append(s.atEnd, fn) }

// usable is checked before anything is done in the session.
func (s *session) usable() error {
	if s.ended {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "the session has ended"}
	}
	return s.failed
}

// ready is checked before anything is read or written.
func (s *session) ready(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return s.fail(endedBy(ctx))
	}
	return nil
}

// fail notes the error of an operation, which ends what the session can do, and returns it.
func (s *session) fail(err error) error {
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// read returns the state to read from, which has what is held back if its reader asks for it.
func (s *session) read(ctx context.Context, withHeld bool) (*state, error) {
	if withHeld {
		return s.write(ctx)
	}
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if s.state != nil {
		return s.state, nil
	}
	return s.store.committed.Load(), nil
}

// write returns the state to write to, with all that was held back. The session has the write lock from then on.
func (s *session) write(ctx context.Context) (*state, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if s.state == nil {
		if err := s.store.lock(ctx); err != nil {
			return nil, s.fail(err)
		}
		newest := *s.store.committed.Load()
		s.state = &newest
	}
	held := s.held
	s.held = appends{}
	return s.state, s.fail(s.state.append(held))
}

// prepare does all of a commit that can fail.
func (s *session) prepare(ctx context.Context) error {
	if !s.held.empty() {
		if _, err := s.write(ctx); err != nil {
			return err
		}
	}
	return s.ready(ctx)
}

// commit makes everything that the session wrote visible to others, at once.
func (s *session) commit(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if s.state != nil {
		s.store.committed.Store(s.state)
	}
	s.committed = true
	return nil
}

// end closes the session: what it has not committed is gone, and the write lock is free.
func (s *session) end() {
	s.ended = true
	if s.state != nil {
		s.state = nil
		s.store.unlock()
	}
}
