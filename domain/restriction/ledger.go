// Package restriction keeps the ledger of restrictions of processing (Art. 18 GDPR). The ledger is an append-only list
// of decisions. Each decision places or lifts a restriction, for one purpose or for all purposes. The application must
// check the current restrictions before it processes data. See the example of [Ledger.Status].
//
// A restriction limits what the application does with the data, not the rights of the subject (Art. 18(2) GDPR). An
// export, a rectification and an erasure are carried out during a restriction, and retained data is overwritten at the
// end of its retention period.
package restriction

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// Ledger records and reads restrictions. It is safe for concurrent use. Each call works in the session that it
// receives.
type Ledger struct {
	audit    audit.Stamper
	purposes domain.Purposes
	observer ports.Observer
	recorded func(context.Context, ports.Session, domain.RestrictionRecord) error // may be nil
}

// NewLedger returns a ledger with the given clock and source of event ids.
func NewLedger(clock ports.Clock, ids ports.IDSource) *Ledger {
	return &Ledger{audit: audit.Stamper{Clock: clock, IDs: ids}}
}

// WithPurposes returns a copy of the ledger with declared purposes. Record and Status of the copy reject any other
// purpose. If a restriction for it is in force, Status returns the restriction, and Record accepts a decision that
// lifts it: a subject can always lift a restriction.
func (l *Ledger) WithPurposes(purposes domain.Purposes) *Ledger {
	return &Ledger{l.audit, purposes, l.observer, l.recorded}
}

// WithObserver returns a copy of the ledger that reports the outcome of each decision to the observer.
func (l *Ledger) WithObserver(observer ports.Observer) *Ledger {
	return &Ledger{l.audit, l.purposes, observer, l.recorded}
}

// WithRecorded returns a copy of the ledger that calls the function in the session of each restriction that is placed
// for a request (domain.WithRequest), such as register.Register.Restricted.
func (l *Ledger) WithRecorded(recorded func(context.Context, ports.Session, domain.RestrictionRecord) error) *Ledger {
	return &Ledger{l.audit, l.purposes, l.observer, recorded}
}

// Purposes returns the declared purposes. The default is the empty Purposes.
func (l *Ledger) Purposes() domain.Purposes { return l.purposes }

// Record appends a decision and the audit event restriction_placed or restriction_lifted. The event has the source of
// the decision, and its scope: one purpose or all purposes. It does not have the purpose or the reason, because a
// client could send personal data in these fields.
//
// Record returns domain.ErrInvalid, with one error per invalid field, if the decision is invalid. If purposes are
// declared, it also returns domain.ErrInvalid for any other purpose, except if the decision lifts a restriction in
// force for this purpose. To find this restriction, Record reads the ledger. If Record returns an error, it records
// nothing.
func (l *Ledger) Record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.RestrictionDecision,
) (domain.RestrictionRecord, error) {
	record, err := l.record(ctx, s, id, decision)
	right := observation.RightObserved{
		Right: observation.RightRestriction, Decision: observation.DecisionLifted, Outcome: domain.OutcomeOf(err),
	}
	if decision.Restricted {
		right.Decision = observation.DecisionPlaced
	}
	observe.Right(l.observer, s, right)
	return record, err
}

func (l *Ledger) record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.RestrictionDecision,
) (domain.RestrictionRecord, error) {
	if err := domain.CheckCall("record restriction", id, decision.CheckAmong(l.purposes)); err != nil {
		return domain.RestrictionRecord{}, err
	}
	if faults := check(l.purposes, decision.Purpose); len(faults) > 0 { // CheckAmong has refused to place a restriction
		_, scoped, err := s.Restrictions().Latest(ctx, id, decision.Purpose)
		if err == nil && !restricts(scoped) {
			err = domain.Invalid("record restriction", faults)
		}
		if err != nil {
			return domain.RestrictionRecord{}, err
		}
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
	if l.recorded == nil || !record.Restricted || domain.RequestOf(ctx) == "" {
		return record, nil
	}
	return record, l.recorded(ctx, s, record)
}

// Status returns whether processing is restricted now for the purpose, or for all purposes if purpose is nil. A
// restriction of all purposes (a global restriction) restricts every purpose. If there are several decisions about a
// purpose, or several global decisions, the last recorded decision counts. Status returns domain.ErrInvalid if purposes
// are declared, the purpose is not one of them, and no restriction for it is in force.
func (l *Ledger) Status(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string,
) (domain.RestrictionStatus, error) {
	if err := domain.CheckCall("restriction status", id, check(domain.Purposes{}, purpose)); err != nil {
		return domain.RestrictionStatus{}, err
	}
	global, scoped, err := s.Restrictions().Latest(ctx, id, purpose)
	if err == nil && !restricts(scoped) {
		err = domain.Invalid("restriction status", check(l.purposes, purpose))
	}
	if err != nil {
		return domain.RestrictionStatus{}, err
	}
	return domain.RestrictionStatusOf(id, purpose, global, scoped), nil
}

func restricts(record *domain.RestrictionRecord) bool { return record != nil && record.Restricted }

// History returns every decision about the purpose, or every global decision if purpose is nil, in the order of
// recording, oldest first. It leaves out the decisions of earlier lives of the id (see domain.Life). The purpose need
// not be declared.
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
