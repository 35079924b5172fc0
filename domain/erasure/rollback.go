package erasure

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// failOnRollback has the trail say that the erasure failed if its session rolls back although every step succeeded:
// by a deferred constraint that fails at the commit, by a connection that is lost, or by what else the session does.
func (r *run) failOnRollback(ctx context.Context) error {
	failed := r.operation.Event(domain.EventErasureStepFailed, r.id, domain.Payload{"error": "rolled_back"})
	return r.session.Audit().AppendOnRollback(ctx, failed)
}
