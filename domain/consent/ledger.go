// Package consent keeps the ledger of what a subject has consented to (Art. 7 GDPR): an append-only list of
// decisions from which the current state, or the state at any past instant, is derived.
package consent

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/audit"
	"github.com/habeas-data/habeas/ports"
)

// Ledger records and answers consent. It is safe for concurrent use; each call works in the session it is given.
type Ledger struct {
	audit audit.Stamper
}

// NewLedger returns a ledger that takes its instants from clock and its event ids from ids.
func NewLedger(clock ports.Clock, ids ports.IDSource) *Ledger {
	return &Ledger{audit: audit.Stamper{Clock: clock, IDs: ids}}
}

// Record appends a decision, and the audit event consent_granted or consent_withdrawn with it, which says neither the
// purpose nor the policy version: a client sends them, so they could be anything. The ledger has them, under the same
// instant, which is the clock's. An invalid decision is domain.ErrInvalid with every field at fault, and leaves no trace.
func (l *Ledger) Record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.ConsentDecision,
) (domain.ConsentRecord, error) {
	if err := domain.CheckCall("record consent", id, decision.Check()); err != nil {
		return domain.ConsentRecord{}, err
	}
	eventType := domain.EventConsentWithdrawn
	if decision.Granted {
		eventType = domain.EventConsentGranted
	}
	event := l.audit.Event(eventType, id, domain.Payload{"source": decision.Source})
	record := domain.ConsentRecord{
		SubjectID:     id,
		Purpose:       decision.Purpose,
		PolicyVersion: decision.PolicyVersion,
		Granted:       decision.Granted,
		RecordedAt:    event.OccurredAt,
		Source:        decision.Source,
	}
	if err := s.Consents().Append(ctx, record); err != nil {
		return domain.ConsentRecord{}, err
	}
	if err := s.Audit().Append(ctx, event); err != nil {
		return domain.ConsentRecord{}, err
	}
	return record, nil
}

// Status returns the consent in force now. Without any record it is not granted.
func (l *Ledger) Status(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string,
) (domain.ConsentStatus, error) {
	return l.status(ctx, s, id, purpose, nil)
}

// StatusAsOf returns the consent that was in force at an instant, records of that very instant included.
func (l *Ledger) StatusAsOf(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string, at time.Time,
) (domain.ConsentStatus, error) {
	at = domain.Instant(at)
	return l.status(ctx, s, id, purpose, &at)
}

func (l *Ledger) status(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string, asOf *time.Time,
) (domain.ConsentStatus, error) {
	if err := domain.CheckCall("consent status", id, domain.CheckPurpose(purpose)); err != nil {
		return domain.ConsentStatus{}, err
	}
	record, err := s.Consents().Latest(ctx, id, purpose, asOf)
	if err != nil {
		return domain.ConsentStatus{}, err
	}
	return domain.ConsentStatusOf(id, purpose, record), nil
}

// History returns every decision about the purpose, oldest first.
func (l *Ledger) History(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	if err := domain.CheckCall("consent history", id, domain.CheckPurpose(purpose)); err != nil {
		return nil, err
	}
	return s.Consents().History(ctx, id, purpose)
}
