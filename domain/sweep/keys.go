package sweep

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// systemsOf returns the external systems whose keys are in columns that a sweep overwrites.
func systemsOf(m datamap.DataMap) []string {
	return slices.DeleteFunc(m.Refs(), func(system string) bool {
		return !slices.ContainsFunc(m.Tables(), func(t datamap.Table) bool {
			return slices.ContainsFunc(t.RefColumns(system), func(c datamap.Column) bool {
				return c.Personal.Strategy == domain.StrategyRetain && !plan.Keeps(m, t, c)
			})
		})
	})
}

// enqueueKeys adds outbox entries for objects at external systems, such as files, that the systems must erase. The keys
// of the objects are in the cells that the sweep will overwrite, and in no other cell of the subject's rows.
// enqueueKeys returns an event payload for each system with such keys. The parameter template has the common fields of
// these entries.
func (s *Sweeper) enqueueKeys(
	ctx context.Context, session ports.Session, template domain.OutboxEntry, step datamap.Step,
) (payloads []domain.Payload, err error) {
	enqueuer := resolvers.Enqueuer(s.audit)
	for _, system := range s.systems {
		keys, entries := 0, 0
		query := plan.KeyQuery{Resolver: system, ErasedAt: step.At, DutiesSince: step.DutiesSince}
		enqueue := func(ref domain.SubjectRef) error {
			keys += len(ref.Keys)
			entries++
			return session.Outbox().Enqueue(ctx, resolvers.Turn(enqueuer.Entry(system, ref, template), entries-1))
		}
		err := resolvers.KeyRefs(ctx, session.Erased().SweptKeys, s.dataMap, template.SubjectID, query, enqueue)
		if err != nil {
			return nil, err
		}
		if keys > 0 {
			payloads = append(payloads, domain.Payload{"target": system, "external": true, "keys": keys})
		}
	}
	return payloads, nil
}
