package erasure

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
)

// enqueueKeys enqueues the keys that the rows hold, for as long as they do. It holds a page of them in memory at once.
func (r *run) enqueueKeys(ctx context.Context) error {
	for _, name := range r.dataMap.Refs() {
		before := r.keys
		query := domain.KeyQuery{Resolver: name, ErasedAt: r.at}
		err := resolvers.KeyCalls(ctx, r.session, r.dataMap, r.resolvers, r.id, query, func(call resolvers.Call) error {
			r.keys += len(call.Ref.Keys)
			_, err := r.send(ctx, call)
			return err
		})
		if err != nil {
			event := r.operation.Event(domain.EventErasureStepFailed, r.id, domain.Payload{
				"target": name, "error": domain.ErrorClass(err),
			})
			_ = r.session.Audit().AppendEvidence(ctx, event) // err is what went wrong; Do reports lost evidence
			return err
		}
		if r.keys > before {
			r.ofKeys = append(r.ofKeys, name)
		}
	}
	return nil
}

// enqueue enqueues the calls for the subject's refs.
func (r *run) enqueue(ctx context.Context, calls []resolvers.Call) error {
	names, err := r.send(ctx, calls...)
	r.result.EnqueuedExternal = append(names, r.ofKeys...)
	return err
}

func (r *run) send(ctx context.Context, calls ...resolvers.Call) (names []string, err error) {
	names, err = resolvers.Enqueuer(r.audit).Enqueue(ctx, r.session, calls, domain.OutboxEntry{
		SubjectID: r.id, Operation: domain.OperationErase, OperationID: r.operation.ID(),
	})
	r.enqueued += len(names)
	return names, err
}
