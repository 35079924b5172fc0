package erasure

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// sourceOfErasure is the source of the consent withdrawals that an erasure records.
const sourceOfErasure = "erasure"

// endConsents withdraws each consent in force, so that a later subject with the same id inherits no consent. It also
// clears the free text of the restrictions. All other content of the ledgers stays as evidence. A grant that another
// session records concurrently is either withdrawn, or commits after the erasure and stays in force.
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
