package erasure

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// sourceOfErasure is what the withdrawals by which an erasure ends consent say about where they came from.
const sourceOfErasure = "erasure"

// endConsents withdraws each consent in force, so that a subject that gets the same id later inherits none, and clears
// the free text of the restrictions. What the ledgers have otherwise stays: it is the proof of what was done, and why.
// A grant that another session records at the same time is withdrawn, or committed after the erasure and then in force.
func (r *run) endConsents(ctx context.Context) error {
	inForce, err := r.session.Consents().InForce(ctx, r.id)
	if err != nil {
		return err
	}
	for _, record := range inForce {
		if !record.Granted {
			continue
		}
		if err := r.endConsent(ctx, record); err != nil {
			return err
		}
	}
	return r.session.Restrictions().ClearReasons(ctx, r.id)
}

func (r *run) endConsent(ctx context.Context, inForce domain.ConsentRecord) error {
	event := r.operation.Event(domain.EventConsentWithdrawn, r.id, r.purposes.ConsentPayload(domain.ConsentDecision{
		Purpose: inForce.Purpose, PolicyVersion: inForce.PolicyVersion, Source: sourceOfErasure,
	}))
	withdrawal := inForce
	withdrawal.SubjectID, withdrawal.Granted = r.id, false
	withdrawal.RecordedAt, withdrawal.Source = event.OccurredAt, sourceOfErasure
	if err := r.session.Consents().Append(ctx, withdrawal); err != nil {
		return err
	}
	return r.session.Audit().Append(ctx, event)
}
