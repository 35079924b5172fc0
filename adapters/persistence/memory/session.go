package memory

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// session implements ports.Session. It collects new records in s.unwritten. It adds them to its state when it reads
// records of the same kind, when it writes other data, and before it commits. A session that only adds records
// therefore holds the write lock only during its commit.
type session struct {
	store      *Store
	state      *state // the copy that the session writes to; nil until the first write, which takes the write lock
	unwritten  newRecords
	evidence   []domain.AuditEvent            // stored even after a rollback
	onRollback []domain.AuditEvent            // stored only after a rollback, after the evidence
	failed     error                          // the first error of an operation; later operations return it
	marked     []domain.SubjectID             // locked for an erasure; the commit closes their ledgers
	undated    []domain.SubjectID             // those of marked whose row had no creation time
	enqueued   bool                           // true if the session has added entries to the outbox
	atEnd      []func(context.Context, error) // called after the commit or the rollback
	committed  bool
	ended      bool
	rehearsal  bool // the session is never committed
	refused    bool // the installation belongs to another data map
	unchecked  bool // the session does not compare its data map with the installation
}

func (s *session) Consents() ports.ConsentStore         { return consentStore{s} }
func (s *session) Restrictions() ports.RestrictionStore { return restrictionStore{s} }
func (s *session) Subjects() ports.SubjectStore         { return subjectStore{s} }
func (s *session) Outbox() ports.Outbox                 { return outbox{s} }
func (s *session) OutboxAdmin() ports.OutboxAdmin       { return outbox{s} }
func (s *session) Audit() ports.AuditLog                { return auditLog{s} }

// AfterEnd implements ports.Session.
func (s *session) AfterEnd(fn func(context.Context, error)) { s.atEnd = append(s.atEnd, fn) }

// usable returns an error if the session has ended or an earlier operation has failed. Every operation calls it first.
func (s *session) usable() error {
	if s.ended {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "the session has ended"}
	}
	return s.failed
}

// ready returns an error if the session is not usable or its context has ended. Every read and write calls it first.
func (s *session) ready(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return s.fail(endedBy(ctx))
	}
	return nil
}

// fail records the error of an operation and returns the error. All later operations of the session return the first
// recorded error.
func (s *session) fail(err error) error {
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// read returns the state to read from. If withUnwritten is set, the state includes the records in s.unwritten.
func (s *session) read(ctx context.Context, withUnwritten bool) (*state, error) {
	if withUnwritten {
		return s.write(ctx)
	}
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if s.state != nil {
		return s.state, nil
	}
	newest := s.store.newest()
	return newest, s.admit(newest, false)
}

// write returns the state to write to. It first adds the records in s.unwritten to this state. After the first call of
// write, the session holds the write lock.
func (s *session) write(ctx context.Context) (*state, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if s.state == nil {
		if err := s.store.lock(ctx); err != nil {
			return nil, s.fail(err)
		}
		s.state = s.store.newest()
		if err := s.admit(s.state, true); err != nil {
			return nil, err
		}
	}
	unwritten := s.unwritten
	s.unwritten = newRecords{}
	return s.state, s.fail(s.state.append(unwritten))
}

// readOf does the same as read for an operation on a subject, without the records in s.unwritten. It returns
// domain.ErrSubject if the id does not fit the key of the subject's table.
func (s *session) readOf(ctx context.Context, id domain.SubjectID) (*state, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return nil, err
	}
	return s.read(ctx, false)
}

// writeOf does the same as write for an operation on a subject, see readOf.
func (s *session) writeOf(ctx context.Context, id domain.SubjectID) (*state, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return nil, err
	}
	return s.write(ctx)
}

// prepare performs the parts of a commit that can fail.
func (s *session) prepare(ctx context.Context) error {
	if !s.unwritten.empty() {
		if _, err := s.write(ctx); err != nil {
			return err
		}
	}
	for _, id := range s.marked {
		s.state.closeLedgers(id)
	}
	return s.ready(ctx)
}

// commit makes all writes of the session visible to other sessions, atomically.
func (s *session) commit(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if s.state != nil {
		s.store.publish(s.state)
	}
	s.committed = true
	return nil
}

// end closes the session. If the session was not committed, its writes are lost. end releases the write lock.
func (s *session) end() {
	s.ended = true
	if s.state != nil {
		s.state = nil
		s.store.unlock()
	}
}
