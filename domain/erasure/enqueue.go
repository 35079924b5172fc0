package erasure

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/plan"
)

// enqueueKeys adds outbox entries with the keys of external systems (such as file names) that the erasure removes from
// the subject's rows. It runs before the rows are deleted. It reads the keys in pages and holds one page in memory.
func (r *run) enqueueKeys(ctx context.Context) error {
	for _, name := range r.dataMap.Refs() {
		i := slices.IndexFunc(r.external, func(e datamap.RehearsedExternal) bool { return e.Resolver == name })
		system := &r.external[i] // NewEraser has checked that the resolver is registered
		query := plan.KeyQuery{Resolver: name, ErasedAt: r.at}
		err := resolvers.KeyCalls(ctx, r.session, r.dataMap, r.resolvers, r.id, query, func(call resolvers.Call) error {
			system.Keys += len(call.Ref.Keys)
			_, err := r.send(ctx, system.Entries, call)
			system.Entries++
			return err
		})
		if err != nil {
			return r.fail(ctx, audit.Target(name, ""), err)
		}
		if system.Keys > 0 {
			r.keys += system.Keys
			r.ofKeys = append(r.ofKeys, name)
		}
	}
	return nil
}

// enqueue adds one outbox entry for each ref of the subject. A ref is the subject's id in an external system.
func (r *run) enqueue(ctx context.Context) error {
	names, err := r.send(ctx, 0, r.calls...)
	r.result.EnqueuedExternal = append(names, r.ofKeys...)
	return err
}

func (r *run) send(ctx context.Context, earlier int, calls ...resolvers.Call) (names []string, err error) {
	names, err = resolvers.Enqueuer(r.audit).Enqueue(ctx, r.session, calls, earlier, domain.OutboxEntry{
		SubjectID: r.id, Operation: domain.OperationErase, OperationID: r.operation.ID(), RequestedAt: r.requestedAt,
	})
	r.enqueued += len(names)
	return names, err
}
