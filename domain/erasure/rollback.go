package erasure

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// failOnRollback lets the store record erasure_step_failed if the session rolls back although every step succeeded.
// Causes are a deferred constraint that fails at the commit, a lost connection, or a later failure in the same session.
func (r *run) failOnRollback(ctx context.Context) error {
	failed := r.operation.Event(domain.EventErasureStepFailed, r.id, domain.Payload{"error": "rolled_back"})
	return r.session.Audit().AppendOnRollback(ctx, failed)
}
