// Package consent keeps the ledger of what a subject has consented to (Art. 7 GDPR): an append-only list of
// decisions from which the current state, or the state at any past instant, is derived.
package consent

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/ports"
)

// Ledger records and answers consent. It is safe for concurrent use; each call works in the session it is given.
type Ledger struct {
	audit    audit.Stamper
	purposes domain.Purposes
	observer ports.Observer
}

// NewLedger returns a ledger that takes its instants from clock and its event ids from ids.
func NewLedger(clock ports.Clock, ids ports.IDSource) *Ledger {
	return &Ledger{audit: audit.Stamper{Clock: clock, IDs: ids}}
}

// WithPurposes returns a ledger like this one that knows the declared purposes: Record and Status refuse every other
// one, Statuses lists them, and audit events name them. The ledger itself stays as it is.
func (l *Ledger) WithPurposes(purposes domain.Purposes) *Ledger {
	return &Ledger{l.audit, purposes, l.observer}
}

// WithObserver returns a ledger like this one that tells the observer how each decision ended. The ledger itself stays
// as it is.
func (l *Ledger) WithObserver(observer ports.Observer) *Ledger {
	return &Ledger{l.audit, l.purposes, observer}
}

// Purposes returns the declared purposes, none by default.
func (l *Ledger) Purposes() domain.Purposes { return l.purposes }

// Record appends a decision, and the audit event consent_granted or consent_withdrawn with it, both under one instant
// of the clock. The event has the purpose and the policy version only where purposes are declared: a client sends both,
// so that else they could be anything. The ledger has them in any case. An invalid decision, or one about a purpose
// that is not declared, is domain.ErrInvalid with every field at fault, and leaves no trace.
func (l *Ledger) Record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.ConsentDecision,
) (domain.ConsentRecord, error) {
	record, err := l.record(ctx, s, id, decision)
	right := domain.RightObserved{
		Right: domain.RightConsent, Decision: domain.DecisionWithdrawn, Outcome: domain.OutcomeOK,
	}
	if decision.Granted {
		right.Decision = domain.DecisionGranted
	}
	observe.Right(ctx, l.observer, s, right, err)
	return record, err
}

func (l *Ledger) record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.ConsentDecision,
) (domain.ConsentRecord, error) {
	if err := domain.CheckCall("record consent", id, decision.CheckAmong(l.purposes)); err != nil {
		return domain.ConsentRecord{}, err
	}
	eventType := domain.EventConsentWithdrawn
	if decision.Granted {
		eventType = domain.EventConsentGranted
	}
	event := l.audit.Event(ctx, eventType, id, l.purposes.ConsentPayload(decision))
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

// Status returns the consent in force now: that of the record taken in last. Without any record it is not granted. A
// purpose that is not declared, where purposes are, is domain.ErrInvalid.
func (l *Ledger) Status(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string,
) (domain.ConsentStatus, error) {
	if err := domain.CheckCall("consent status", id, l.purposes.Check(purpose)); err != nil {
		return domain.ConsentStatus{}, err
	}
	return l.status(ctx, s, id, purpose, nil)
}

// Statuses returns the consent in force now for every declared purpose, in their order, from one statement. Where no
// purposes are declared there are none.
func (l *Ledger) Statuses(ctx context.Context, s ports.Session, id domain.SubjectID) (domain.ConsentStatuses, error) {
	if err := domain.CheckCall("consent statuses", id, nil); err != nil {
		return domain.ConsentStatuses{}, err
	}
	all := domain.ConsentStatuses{SubjectID: id, Consents: []domain.ConsentStatus{}}
	if !l.purposes.Declared() {
		return all, nil
	}
	records, err := s.Consents().InForce(ctx, id)
	if err != nil {
		return domain.ConsentStatuses{}, err
	}
	inForce := map[string]*domain.ConsentRecord{}
	for i := range records {
		inForce[records[i].Purpose] = &records[i]
	}
	for _, purpose := range l.purposes.Names() {
		all.Consents = append(all.Consents, domain.ConsentStatusOf(id, purpose, inForce[purpose]))
	}
	return all, nil
}

// StatusAsOf returns the consent that was in force at an instant: that of the record taken in last among those of that
// instant or before. Any purpose may be asked about, also one that is no longer declared.
func (l *Ledger) StatusAsOf(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string, at time.Time,
) (domain.ConsentStatus, error) {
	if err := domain.CheckCall("consent status", id, domain.CheckPurpose(purpose)); err != nil {
		return domain.ConsentStatus{}, err
	}
	at = domain.Instant(at)
	return l.status(ctx, s, id, purpose, &at)
}

func (l *Ledger) status(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string, asOf *time.Time,
) (domain.ConsentStatus, error) {
	record, err := s.Consents().Latest(ctx, id, purpose, asOf)
	if err != nil {
		return domain.ConsentStatus{}, err
	}
	return domain.ConsentStatusOf(id, purpose, record), nil
}

// History returns every decision about the purpose in the order of intake, the oldest first. Any purpose may be asked
// about, also one that is no longer declared.
func (l *Ledger) History(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	if err := domain.CheckCall("consent history", id, domain.CheckPurpose(purpose)); err != nil {
		return nil, err
	}
	return s.Consents().History(ctx, id, purpose)
}
