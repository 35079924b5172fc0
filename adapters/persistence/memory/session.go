package memory

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// session implements ports.Session. It holds appended records back until it reads records of the same kind, writes
// anything, or ends. A session that only appends therefore holds the write lock only during its commit.
type session struct {
	store      *Store
	state      *state // the visible state with its own writes; nil until the first write, and without the write lock
	held       appends
	evidence   []domain.AuditEvent     // written even after a rollback
	onRollback []domain.AuditEvent     // written only after a rollback, after the evidence
	failed     error                   // the first error of an operation, which fails the session
	enqueued   bool                    // the outbox has new work after the commit
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

// usable returns the error that prevents operations in the session, or nil. Every operation checks it first.
func (s *session) usable() error {
	if s.ended {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "the session has ended"}
	}
	return s.failed
}

// ready is checked before every read and write.
func (s *session) ready(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return s.fail(endedBy(ctx))
	}
	return nil
}

// fail records the error of an operation, which fails all later operations, and returns it.
func (s *session) fail(err error) error {
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// read returns the state to read from. With withHeld, it includes the records that the session holds back.
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

// write returns the state to write to, including all records that the session held back. From then on, the session
// holds the write lock.
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

// prepare performs the parts of a commit that can fail.
func (s *session) prepare(ctx context.Context) error {
	if !s.held.empty() {
		if _, err := s.write(ctx); err != nil {
			return err
		}
	}
	return s.ready(ctx)
}

// commit makes all writes of the session visible to others, atomically.
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

// end closes the session. It drops uncommitted writes and releases the write lock.
func (s *session) end() {
	s.ended = true
	if s.state != nil {
		s.state = nil
		s.store.unlock()
	}
}
