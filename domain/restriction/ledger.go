// Package restriction keeps the ledger of restrictions of processing (Art. 18 GDPR): an append-only list of
// restrictions placed and lifted, for one purpose or for all, from which the current state is derived. Consulting
// that state before processing is the application's part.
package restriction

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/ports"
)

// Ledger records and answers restrictions. It is safe for concurrent use; each call works in the session it is given.
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
// one. The ledger itself stays as it is.
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

// Record appends a decision, and the audit event restriction_placed or restriction_lifted with it, which says the
// scope but neither the purpose nor the reason: a client sends them, so they could be anything. An invalid decision, or
// one about a purpose that is not declared where purposes are, is domain.ErrInvalid with every field at fault, and
// leaves no trace.
func (l *Ledger) Record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.RestrictionDecision,
) (domain.RestrictionRecord, error) {
	record, err := l.record(ctx, s, id, decision)
	right := domain.RightObserved{
		Right: domain.RightRestriction, Decision: domain.DecisionLifted, Outcome: domain.OutcomeOK,
	}
	if decision.Restricted {
		right.Decision = domain.DecisionPlaced
	}
	observe.Right(ctx, l.observer, s, right, err)
	return record, err
}

func (l *Ledger) record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.RestrictionDecision,
) (domain.RestrictionRecord, error) {
	if err := domain.CheckCall("record restriction", id, decision.CheckAmong(l.purposes)); err != nil {
		return domain.RestrictionRecord{}, err
	}
	eventType := domain.EventRestrictionLifted
	if decision.Restricted {
		eventType = domain.EventRestrictionPlaced
	}
	payload := domain.Payload{"scope": string(domain.ScopeAll), "source": decision.Source}
	if decision.Purpose != nil {
		payload["scope"] = string(domain.ScopePurpose)
	}
	event := l.audit.Event(ctx, eventType, id, payload)
	record := domain.RestrictionRecord{
		SubjectID:  id,
		Purpose:    decision.Purpose,
		Restricted: decision.Restricted,
		Reason:     decision.Reason,
		RecordedAt: event.OccurredAt,
		Source:     decision.Source,
	}
	if err := s.Restrictions().Append(ctx, record); err != nil {
		return domain.RestrictionRecord{}, err
	}
	if err := s.Audit().Append(ctx, event); err != nil {
		return domain.RestrictionRecord{}, err
	}
	return record, nil
}

// Status says whether processing is restricted now: for the purpose, or, with a nil purpose, globally. A global
// restriction restricts every purpose. Of each kind the record taken in last counts. A purpose that is not declared,
// where purposes are, is domain.ErrInvalid.
func (l *Ledger) Status(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string,
) (domain.RestrictionStatus, error) {
	if err := domain.CheckCall("restriction status", id, check(l.purposes, purpose)); err != nil {
		return domain.RestrictionStatus{}, err
	}
	global, scoped, err := s.Restrictions().Latest(ctx, id, purpose)
	if err != nil {
		return domain.RestrictionStatus{}, err
	}
	return domain.RestrictionStatusOf(id, purpose, global, scoped), nil
}

// History returns every decision about the purpose, or every global one with a nil purpose, in the order of intake, the
// oldest first. Any purpose may be asked about, also one that is no longer declared.
func (l *Ledger) History(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	if err := domain.CheckCall("restriction history", id, check(domain.Purposes{}, purpose)); err != nil {
		return nil, err
	}
	return s.Restrictions().History(ctx, id, purpose)
}

func check(purposes domain.Purposes, purpose *string) []domain.FieldError {
	if purpose == nil {
		return nil
	}
	return purposes.Check(*purpose)
}
