package erasure

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// withdraw withdraws the corrections that external systems have not received yet. The corrections are personal data, so
// the erasure must remove them, and no system may receive them after the erasure. withdraw runs after the local steps,
// because these steps wait for a rectification that runs concurrently. It also runs if no resolver of this process
// rectifies, because another process may have such a resolver.
func (r *run) withdraw(ctx context.Context) error {
	withdrawn, err := r.session.Outbox().Withdraw(ctx, r.id)
	if err != nil {
		return err
	}
	for _, entry := range withdrawn {
		rectification := r.audit.Operation(ctx, entry.OperationID)
		event := rectification.Event(domain.EventRectificationStepFailed, r.id, domain.Payload{
			"target": entry.Resolver, "external": true, "abandoned": true, "error": "erased", "attempts": entry.Attempts,
		})
		if err := r.session.Audit().Append(ctx, event); err != nil {
			return err
		}
	}
	return nil
}
