package saga

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Requeue makes abandoned erasures pending again, once whatever stood against them is out of the way, and records
// erasure_requeued for each. Entries that are not abandoned, or are rectifications, which are issued anew instead, are
// skipped. It returns the entries that were requeued. Others are found by ports.Outbox.Abandoned.
func (r *Runner) Requeue(ctx context.Context, s ports.Session, entryIDs ...string) ([]domain.OutboxEntry, error) {
	requeued, err := s.Outbox().Requeue(ctx, entryIDs)
	if err != nil {
		return nil, err
	}
	for _, entry := range requeued {
		if entry.SubjectID.IsZero() { // it cannot be read, and will be abandoned again unless it was repaired
			continue
		}
		event := r.audit.Event(domain.EventErasureRequeued, entry.SubjectID, domain.Payload{"target": entry.Resolver})
		if err := s.Audit().Append(ctx, event); err != nil {
			return nil, err
		}
	}
	return requeued, nil
}
