// Package httpfake has what the tests of the REST endpoints share: stores in memory without transactions, and a slow
// connection.
package httpfake

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Sessions is a SessionFactory in memory, without transactions. It records the calls of an endpoint. A test sets the
// first four fields before the first call.
type Sessions struct {
	ports.SessionFactory // nil: the endpoints call only Do

	Rows   []domain.ExportRecord // the records of an export
	Before func(ctx context.Context) error
	After  func(ctx context.Context)
	Twice  bool // run every function twice, like a factory that retries

	mu           sync.Mutex
	Opened       int
	Lookups      []Lookup
	Evidence     int // calls of AppendEvidence
	Consents     []domain.ConsentRecord
	Restrictions []domain.RestrictionRecord
}

// Lookup records one read of a status: the id of the subject and the purpose.
type Lookup struct{ ID, Purpose string }

// Do implements ports.SessionFactory.
func (s *Sessions) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Opened++
	if s.Before != nil {
		if err := s.Before(ctx); err != nil {
			return err
		}
	}
	if s.Twice {
		if err := fn(ctx, session{Sessions: s}); err != nil {
			return err
		}
	}
	err := fn(ctx, session{Sessions: s})
	if s.After != nil {
		s.After(ctx)
	}
	return err
}

// These stores implement only the methods that the tested endpoints call. A call of any other method panics, because
// the embedded interface is nil.
type (
	session struct {
		ports.Session
		*Sessions
	}
	consents struct {
		ports.ConsentStore
		*Sessions
	}
	restrictions struct {
		ports.RestrictionStore
		*Sessions
	}
	subjects struct {
		ports.SubjectStore
		*Sessions
	}
	outbox   struct{ ports.Outbox }
	auditLog struct {
		ports.AuditLog
		*Sessions
	}
)

func (s session) Consents() ports.ConsentStore         { return consents{Sessions: s.Sessions} }
func (s session) Restrictions() ports.RestrictionStore { return restrictions{Sessions: s.Sessions} }
func (s session) Subjects() ports.SubjectStore         { return subjects{Sessions: s.Sessions} }
func (session) Outbox() ports.Outbox                   { return outbox{} }
func (session) OutboxAdmin() ports.OutboxAdmin         { panic("not used") }
func (s session) Audit() ports.AuditLog                { return auditLog{Sessions: s.Sessions} }

func (s consents) Append(_ context.Context, record domain.ConsentRecord) error {
	s.Consents = append(s.Consents, record)
	return nil
}

func (s consents) Latest(
	_ context.Context, id domain.SubjectID, purpose string, _ *time.Time,
) (*domain.ConsentRecord, error) {
	s.Lookups = append(s.Lookups, Lookup{id.String(), purpose})
	for _, record := range slices.Backward(s.Consents) {
		if record.SubjectID == id && record.Purpose == purpose {
			return &record, nil
		}
	}
	return nil, nil
}

func (s consents) InForce(_ context.Context, id domain.SubjectID) (inForce []domain.ConsentRecord, err error) {
	for i, record := range s.Consents {
		later := slices.ContainsFunc(s.Consents[i+1:], func(r domain.ConsentRecord) bool {
			return r.SubjectID == record.SubjectID && r.Purpose == record.Purpose
		})
		if record.SubjectID == id && !later {
			inForce = append(inForce, record)
		}
	}
	return inForce, nil
}

func (restrictions) ClearReasons(context.Context, domain.SubjectID) error { return nil }

func (s restrictions) Append(_ context.Context, record domain.RestrictionRecord) error {
	s.Restrictions = append(s.Restrictions, record)
	return nil
}

func (s restrictions) Latest(
	_ context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	if purpose != nil {
		s.Lookups = append(s.Lookups, Lookup{id.String(), *purpose})
	}
	for _, record := range slices.Backward(s.Restrictions) {
		switch {
		case record.SubjectID != id:
		case record.Purpose == nil && global == nil:
			global = &record
		case record.Purpose != nil && purpose != nil && *record.Purpose == *purpose && scoped == nil:
			scoped = &record
		}
	}
	return global, scoped, nil
}

func (subjects) Lock(_ context.Context, _ domain.SubjectID, at time.Time) (time.Time, error) {
	return at, nil
}

func (subjects) Apply(_ context.Context, _ domain.SubjectID, steps []datamap.Step) (domain.Applied, error) {
	return domain.Applied{Rows: slices.Repeat([]int64{1}, len(steps))}, nil
}

func (s subjects) Export(_ context.Context, _ domain.SubjectID, yield func(domain.ExportRecord) error) error {
	for _, row := range s.Rows {
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func (outbox) Enqueue(context.Context, ...domain.OutboxEntry) error { return nil }

func (outbox) Withdraw(context.Context, domain.SubjectID) ([]domain.OutboxEntry, error) {
	return nil, nil
}

func (auditLog) Append(context.Context, ...domain.AuditEvent) error { return nil }

func (auditLog) AppendOnRollback(context.Context, ...domain.AuditEvent) error { return nil }

func (a auditLog) AppendEvidence(context.Context, ...domain.AuditEvent) error {
	a.Evidence++
	return nil
}

// Clock is a clock that stands still.
type Clock struct{}

// Now implements ports.Clock.
func (Clock) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC) }

// IDs gives the same id again and again.
type IDs struct{}

// NewID implements ports.IDSource.
func (IDs) NewID() string { return "00000000-0000-7000-8000-000000000000" }
