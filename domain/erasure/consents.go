package erasure

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// sourceOfErasure is the value of ConsentRecord.Source in the withdrawals that an erasure records.
const sourceOfErasure = "erasure"

// endConsents withdraws each consent in force, so that a later subject with the same id inherits no consent. It also
// clears the reasons of the restrictions, because a reason is free text. All other content of both ledgers stays as
// evidence.
//
// If another session grants a consent concurrently, there are two possible results:
//
//   - The session commits before endConsents reads the consents. The consent is then withdrawn.
//   - The session commits after the erasure. The consent then stays in force.
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
