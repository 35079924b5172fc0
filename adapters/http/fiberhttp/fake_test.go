package fiberhttp_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// sessions is a SessionFactory in memory, without transactions. A test can set a function that each session calls
// first.
type sessions struct {
	ports.SessionFactory // nil: the endpoints call only Do

	before func(ctx context.Context) error

	mu           sync.Mutex
	opened       int
	lookups      []lookup
	consents     []domain.ConsentRecord
	restrictions []domain.RestrictionRecord
}

// lookup records one read of the consent status: the id of the subject and the purpose.
type lookup struct{ id, purpose string }

func (s *sessions) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	if s.before != nil {
		if err := s.before(ctx); err != nil {
			return err
		}
	}
	return fn(ctx, session{sessions: s})
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
	subjects struct{ ports.SubjectStore }
	outbox   struct{ ports.Outbox }
	auditLog struct{ ports.AuditLog }
)

func (s session) Consents() ports.ConsentStore         { return consents{sessions: s.sessions} }
func (s session) Restrictions() ports.RestrictionStore { return restrictions{sessions: s.sessions} }
func (session) Subjects() ports.SubjectStore           { return subjects{} }
func (session) Outbox() ports.Outbox                   { return outbox{} }
func (session) OutboxAdmin() ports.OutboxAdmin         { panic("not used") }
func (session) Audit() ports.AuditLog                  { return auditLog{} }

func (s consents) Append(_ context.Context, record domain.ConsentRecord) error {
	s.consents = append(s.consents, record)
	return nil
}

func (s consents) Latest(
	_ context.Context, id domain.SubjectID, purpose string, _ *time.Time,
) (*domain.ConsentRecord, error) {
	s.lookups = append(s.lookups, lookup{id.String(), purpose})
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
	_ context.Context, _ domain.SubjectID, _ *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	if n := len(s.restrictions); n > 0 {
		return &s.restrictions[n-1], nil, nil
	}
	return nil, nil, nil
}

func (subjects) Lock(_ context.Context, _ domain.SubjectID, at time.Time) (time.Time, error) {
	return at, nil
}

func (subjects) Apply(_ context.Context, _ domain.SubjectID, steps []datamap.Step) (domain.Applied, error) {
	return domain.Applied{Rows: slices.Repeat([]int64{1}, len(steps))}, nil
}

func (subjects) Export(_ context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
	basis := domain.BasisContract
	for _, value := range []any{
		"ada@example.com", domain.Number("19.90"), domain.JSON(`{"a":[1]}`), true, []byte{1}, nil,
	} {
		err := yield(domain.ExportRecord{
			Source: "users", Field: "email", Row: id.String(), Category: domain.CategoryContact,
			Value: value, LegalBasis: &basis,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (outbox) Enqueue(context.Context, ...domain.OutboxEntry) error { return nil }

func (outbox) Withdraw(context.Context, domain.SubjectID) ([]domain.OutboxEntry, error) {
	return nil, nil
}

func (auditLog) Append(context.Context, ...domain.AuditEvent) error           { return nil }
func (auditLog) AppendEvidence(context.Context, ...domain.AuditEvent) error   { return nil }
func (auditLog) AppendOnRollback(context.Context, ...domain.AuditEvent) error { return nil }

type clock struct{}

func (clock) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC) }

type ids struct{}

func (ids) NewID() string { return "00000000-0000-7000-8000-000000000000" }
