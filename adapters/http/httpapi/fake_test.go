package httpapi_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// sessions is a SessionFactory in memory, without transactions. It records the calls of an endpoint. A test sets the
// first four fields before the first call.
type sessions struct {
	ports.SessionFactory // nil: the endpoints call only Do

	rows   []domain.ExportRecord // the records of an export
	before func(ctx context.Context) error
	after  func(ctx context.Context)
	twice  bool // run every function twice, like a factory that retries

	mu           sync.Mutex
	opened       int
	purposes     []string // the purposes whose status was read
	evidence     int      // calls of AppendEvidence
	consents     []domain.ConsentRecord
	restrictions []domain.RestrictionRecord
}

func (s *sessions) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	if s.before != nil {
		if err := s.before(ctx); err != nil {
			return err
		}
	}
	if s.twice {
		if err := fn(ctx, session{sessions: s}); err != nil {
			return err
		}
	}
	err := fn(ctx, session{sessions: s})
	if s.after != nil {
		s.after(ctx)
	}
	return err
}

// These stores implement only the methods that the tested endpoints call. A call of any other method panics, because
// the embedded interface is nil.
type (
	session struct {
		ports.Session
		*sessions
	}
	consents struct {
		ports.ConsentStore
		*sessions
	}
	restrictions struct {
		ports.RestrictionStore
		*sessions
	}
	subjects struct {
		ports.SubjectStore
		*sessions
	}
	outbox   struct{ ports.Outbox }
	auditLog struct {
		ports.AuditLog
		*sessions
	}
)

func (s session) Consents() ports.ConsentStore         { return consents{sessions: s.sessions} }
func (s session) Restrictions() ports.RestrictionStore { return restrictions{sessions: s.sessions} }
func (s session) Subjects() ports.SubjectStore         { return subjects{sessions: s.sessions} }
func (session) Outbox() ports.Outbox                   { return outbox{} }
func (session) OutboxAdmin() ports.OutboxAdmin         { panic("not used") }
func (s session) Audit() ports.AuditLog                { return auditLog{sessions: s.sessions} }

func (s consents) Append(_ context.Context, record domain.ConsentRecord) error {
	s.consents = append(s.consents, record)
	return nil
}

func (s consents) Latest(
	_ context.Context, id domain.SubjectID, purpose string, _ *time.Time,
) (*domain.ConsentRecord, error) {
	s.purposes = append(s.purposes, purpose)
	for _, record := range slices.Backward(s.consents) {
		if record.SubjectID == id && record.Purpose == purpose {
			return &record, nil
		}
	}
	return nil, nil
}

func (s consents) InForce(_ context.Context, id domain.SubjectID) (inForce []domain.ConsentRecord, err error) {
	for i, record := range s.consents {
		later := slices.ContainsFunc(s.consents[i+1:], func(r domain.ConsentRecord) bool {
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
	s.restrictions = append(s.restrictions, record)
	return nil
}

func (s restrictions) Latest(
	_ context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	if purpose != nil {
		s.purposes = append(s.purposes, *purpose)
	}
	for _, record := range slices.Backward(s.restrictions) {
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
	for _, row := range s.rows {
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
	a.evidence++
	return nil
}

// desk is an external system. Its export returns a name. If err is set, all calls return err.
type desk struct {
	ports.Resolver
	name string
	err  error
}

func (d desk) Name() string { return d.name }

func (d desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return []domain.ExportRecord{{
		Field: "contact.name", Row: "c-1", Category: domain.CategoryIdentity, Value: "Ada",
	}}, d.err
}

type clock struct{}

func (clock) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC) }

type ids struct{}

func (ids) NewID() string { return "00000000-0000-7000-8000-000000000000" }
