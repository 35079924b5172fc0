// Package consent keeps the ledger of the consents of subjects (Art. 7 GDPR). The ledger is an append-only list of
// decisions. From these decisions, the ledger derives the current state and the state at any past instant. See the
// examples of [Ledger.Record] and [Ledger.Status].
package consent

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// Ledger records and reads consents. It is safe for concurrent use. Each call works in the session that it receives.
type Ledger struct {
	audit    audit.Stamper
	purposes domain.Purposes
	observer ports.Observer
}

// NewLedger returns a ledger with the given clock and source of event ids.
func NewLedger(clock ports.Clock, ids ports.IDSource) *Ledger {
	return &Ledger{audit: audit.Stamper{Clock: clock, IDs: ids}}
}

// WithPurposes returns a copy of the ledger with declared purposes. The methods Record and Status of the copy reject
// any other purpose. If a consent for it is in force, Status returns the consent, and Record accepts a withdrawal: Art.
// 7(3) GDPR lets a subject withdraw a consent at any time. The method Statuses lists the declared purposes and the
// other consents in force. Audit events name the purpose of each decision about a declared purpose.
func (l *Ledger) WithPurposes(purposes domain.Purposes) *Ledger {
	return &Ledger{l.audit, purposes, l.observer}
}

// WithObserver returns a copy of the ledger that reports the outcome of each decision to the observer.
func (l *Ledger) WithObserver(observer ports.Observer) *Ledger {
	return &Ledger{l.audit, l.purposes, observer}
}

// Purposes returns the declared purposes. The default is the empty Purposes.
func (l *Ledger) Purposes() domain.Purposes { return l.purposes }

// Record appends a decision and the audit event consent_granted or consent_withdrawn with the same time. The event has
// the purpose and the policy version only if the purpose is declared. For any other purpose, a client could have sent
// personal data in these two fields. The record in the ledger always has both fields.
//
// Record returns domain.ErrInvalid, with one error per invalid field, if the decision is invalid. If purposes are
// declared, it also returns domain.ErrInvalid for any other purpose, except for a withdrawal of a consent in force. To
// find this consent, Record reads the ledger. If Record returns an error, it records nothing.
func (l *Ledger) Record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.ConsentDecision,
) (domain.ConsentRecord, error) {
	record, err := l.record(ctx, s, id, decision)
	right := observation.RightObserved{
		Right: observation.RightConsent, Decision: observation.DecisionWithdrawn, Outcome: domain.OutcomeOf(err),
	}
	if decision.Granted {
		right.Decision = observation.DecisionGranted
	}
	observe.Right(l.observer, s, right)
	return record, err
}

func (l *Ledger) record(
	ctx context.Context, s ports.Session, id domain.SubjectID, decision domain.ConsentDecision,
) (domain.ConsentRecord, error) {
	if err := domain.CheckCall("record consent", id, decision.CheckAmong(l.purposes)); err != nil {
		return domain.ConsentRecord{}, err
	}
	if faults := l.purposes.Check(decision.Purpose); len(faults) > 0 { // a withdrawal: CheckAmong has refused grants
		current, err := l.status(ctx, s, id, decision.Purpose, nil)
		if err == nil && !current.Granted {
			err = domain.Invalid("record consent", faults)
		}
		if err != nil {
			return domain.ConsentRecord{}, err
		}
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

// Status returns the consent that is in force now. This is the decision that was recorded last. Without a decision,
// consent is not granted. Status returns domain.ErrInvalid if purposes are declared, the purpose is not one of them,
// and no consent for it is in force.
func (l *Ledger) Status(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string,
) (domain.ConsentStatus, error) {
	if err := domain.CheckCall("consent status", id, domain.CheckPurpose(purpose)); err != nil {
		return domain.ConsentStatus{}, err
	}
	status, err := l.status(ctx, s, id, purpose, nil)
	if err == nil && !status.Granted {
		err = domain.Invalid("consent status", l.purposes.Check(purpose))
	}
	if err != nil {
		return domain.ConsentStatus{}, err
	}
	return status, nil
}

// Statuses returns the consent that is in force now for each declared purpose, in the order of declaration. Then follow
// the consents that are granted for other purposes, in the order of recording, so that the subject can find and
// withdraw them. The result is empty if no purposes are declared.
func (l *Ledger) Statuses(ctx context.Context, s ports.Session, id domain.SubjectID) (domain.ConsentStatuses, error) {
	if !l.purposes.Declared() {
		all := domain.ConsentStatuses{SubjectID: id, Consents: []domain.ConsentStatus{}}
		return all, domain.CheckCall("consent statuses", id, nil)
	}
	all, err := l.AllStatuses(ctx, s, id)
	all.Consents = slices.DeleteFunc(all.Consents, func(status domain.ConsentStatus) bool {
		return !status.Granted && len(l.purposes.Check(status.Purpose)) > 0
	})
	return all, err
}

// AllStatuses returns the same as Statuses, but also the consents for other purposes that are withdrawn, and those for
// all purposes if none are declared.
func (l *Ledger) AllStatuses(
	ctx context.Context, s ports.Session, id domain.SubjectID,
) (domain.ConsentStatuses, error) {
	if err := domain.CheckCall("consent statuses", id, nil); err != nil {
		return domain.ConsentStatuses{}, err
	}
	records, err := s.Consents().InForce(ctx, id)
	if err != nil {
		return domain.ConsentStatuses{}, err
	}
	names, inForce := l.purposes.Names(), map[string]*domain.ConsentRecord{}
	for i, record := range records {
		inForce[record.Purpose] = &records[i]
		if !slices.Contains(names, record.Purpose) {
			names = append(names, record.Purpose)
		}
	}
	all := domain.ConsentStatuses{SubjectID: id, Consents: []domain.ConsentStatus{}}
	for _, purpose := range names {
		all.Consents = append(all.Consents, domain.ConsentStatusOf(id, purpose, inForce[purpose]))
	}
	return all, nil
}

// StatusAsOf returns the consent that was in force at an instant. This is the last decision that was recorded at or
// before that instant. If this decision belongs to an earlier life of the id and no longer counts (see
// domain.Life.KeepsEarlier), consent is not granted. The purpose need not be declared.
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

// History returns every decision about the purpose in the order of recording, oldest first. It leaves out the decisions
// of earlier lives of the id (see domain.Life). The purpose need not be declared.
func (l *Ledger) History(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	if err := domain.CheckCall("consent history", id, domain.CheckPurpose(purpose)); err != nil {
		return nil, err
	}
	return s.Consents().History(ctx, id, purpose)
}

// HistoryOfAllLives returns the same as History, and before it the decisions of earlier lives of the id, which may be
// of other people. Show it to operators only.
func (l *Ledger) HistoryOfAllLives(
	ctx context.Context, s ports.Session, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	if err := domain.CheckCall("consent history", id, domain.CheckPurpose(purpose)); err != nil {
		return nil, err
	}
	return s.Consents().HistoryOfAllLives(ctx, id, purpose)
}
