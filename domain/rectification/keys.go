package rectification

import (
	"context"
	"maps"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// keyChange collects the keys of external systems (see datamap.Annotation.Ref) that a rectification overwrites. The
// objects with these keys must be erased, because no row names them afterwards.
type keyChange struct {
	systems []string                   // the names of the resolvers, in the order of the plan
	old     map[string]map[string]bool // the overwritten keys, by resolver
}

// readKeys reads the keys that the plan overwrites. It runs before the first step.
func (r *run) readKeys(ctx context.Context) error {
	r.keys.old = map[string]map[string]bool{}
	read := map[cell]bool{}
	for _, step := range r.plan.Steps {
		table, _ := r.dataMap.Table(step.Table)
		for _, value := range step.Values {
			column, _ := table.Column(value.Column)
			at := cell{place{step.Table, step.Row}, column.Name}
			if column.Personal.Ref == "" || read[at] {
				continue
			}
			read[at] = true
			if err := r.readKeysIn(ctx, column.Personal.Ref, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) readKeysIn(ctx context.Context, system string, at cell) error {
	resolver, _ := r.resolvers.Get(system)
	if _, ok := resolver.(ports.KeyResolver); !ok {
		return &domain.Error{
			Code: domain.ErrConfiguration, Op: "rectify",
			Message: at.table + "." + at.column + " holds keys of an external system that has no ports.KeyResolver",
		}
	}
	if r.keys.old[system] == nil {
		r.keys.systems, r.keys.old[system] = append(r.keys.systems, system), map[string]bool{}
	}
	query := plan.KeyQuery{Resolver: system, Cells: &plan.KeyCells{Table: at.table, Column: at.column, Row: at.row}}
	return r.eachKey(ctx, query, func(key string) { r.keys.old[system][key] = true })
}

func (r *run) eachKey(ctx context.Context, query plan.KeyQuery, visit func(key string)) error {
	return resolvers.KeyCalls(ctx, r.session, r.dataMap, r.resolvers, r.id, query, func(call resolvers.Call) error {
		for _, key := range call.Ref.Keys {
			visit(key)
		}
		return nil
	})
}

// enqueueKeys adds the erasure of the overwritten keys to the outbox. It runs after the last step, and leaves out keys
// that the subject's rows still hold. It does not name the systems of these entries in the result more than once.
func (r *run) enqueueKeys(ctx context.Context) error {
	enqueuer := resolvers.Enqueuer(r.audit)
	for _, system := range r.keys.systems {
		old := r.keys.old[system]
		if len(old) > 0 {
			err := r.eachKey(ctx, plan.KeyQuery{Resolver: system, Held: true}, func(key string) { delete(old, key) })
			if err != nil {
				return err
			}
		}
		entries := 0
		for keys := range slices.Chunk(slices.Sorted(maps.Keys(old)), datamap.MaxKeys) {
			entry := enqueuer.Entry(system, domain.SubjectRef{Kind: system, Keys: keys}, domain.OutboxEntry{
				SubjectID: r.id, Operation: domain.OperationErase, OperationID: r.operation.ID(),
			})
			if err := r.session.Outbox().Enqueue(ctx, resolvers.Turn(entry, entries)); err != nil {
				return err
			}
			entries++
			r.keyEntries++
		}
		if len(old) > 0 {
			r.result.EnqueuedExternal = append(r.result.EnqueuedExternal, system)
			r.result.SkippedResolvers = resolvers.Without(r.result.SkippedResolvers, []string{system})
		}
	}
	return nil
}
