package isolation

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func (w *world) trail(id domain.SubjectID) (trail []domain.AuditEvent) {
	w.do(func(ctx context.Context, s ports.Session) (err error) {
		trail, err = s.Audit().Trail(ctx, id)
		return err
	})
	return trail
}

// outcome is the result of an erasure.
type outcome struct {
	domain.ErasureResult
	keys map[string][]string // for each external system, the keys (such as file names) that are added to the outbox
}

// checkTrail checks that the subject's audit trail has exactly the events of the given erasures, in their order.
func (w *world) checkTrail(subject domain.Subject, results ...outcome) {
	trail := w.trail(subject.ID)
	ids := map[string]bool{}
	for _, event := range trail {
		ids[event.EventID] = true
	}
	if len(ids) != len(trail) {
		w.Errorf("%d events have %d ids", len(trail), len(ids))
	}
	called, skipped := w.called(subject)
	for _, result := range results {
		steps := stepsOf(result.ErasureResult)
		if len(trail) < len(steps)+2 {
			w.Fatalf("the trail ends early: %+v", trail)
		}
		w.checkEvent(trail[0], domain.EventErasureRequested, domain.Payload{
			"local_steps": int64(len(steps)) - w.unplanned(result.ErasureResult), "external_steps": int64(len(called)),
			"refs": int64(len(subject.Refs)),
		})
		w.checkSteps(steps, trail[1:len(steps)+1])
		completed := trail[len(steps)+1]
		without := slices.DeleteFunc(slices.Clone(skipped), func(name string) bool { return len(result.keys[name]) > 0 })
		payload := domain.Payload{
			"deleted": total(result.Deleted), "anonymized": total(result.Anonymized), "retained": total(result.Retained),
			"enqueued": int64(len(called) + len(result.keys)), "skipped_resolvers": strings.Join(without, ","),
		}
		if len(result.Cascaded) > 0 { // references that the database has set to NULL
			payload["cascaded"] = total(result.Cascaded)
			payload["cascaded_tables"] = strings.Join(slices.Sorted(maps.Keys(result.Cascaded)), ",")
		}
		for _, keys := range result.keys {
			handedOver, _ := payload["keys"].(int64)
			payload["keys"] = handedOver + int64(len(keys))
		}
		w.checkEvent(completed, domain.EventErasureLocalCompleted, payload)
		if !completed.OccurredAt.Equal(result.CompletedAt) {
			w.Errorf("completed at %s, by the result at %s", completed.OccurredAt, result.CompletedAt)
		}
		trail = trail[len(steps)+2:]
		if len(called)+len(result.keys) > 0 {
			continue
		}
		if len(trail) == 0 {
			w.Fatalf("an erasure that calls no system is not complete")
		}
		w.checkEvent(trail[0], domain.EventErasureCompleted, domain.Payload{})
		trail = trail[1:]
	}
	if len(trail) > 0 {
		w.Errorf("the trail goes on: %+v", trail)
	}
}

// unplanned returns the number of steps that are in the result but not in the erasure plan. If all annotated columns of
// a table are retained, the plan has no anonymizing step on the table. The result has one if a retention period has
// ended.
func (w *world) unplanned(result domain.ErasureResult) (n int64) {
	for _, table := range w.mapped() {
		if _, has := result.Anonymized[w.qualifier+table.name]; has && len(table.anonymized()) == 0 {
			n++
		}
	}
	return n
}

// step identifies one step of an erasure by two values in the payload of its event.
type step struct {
	target, strategy string
}

func stepsOf(result domain.ErasureResult) map[step]int64 {
	steps := map[step]int64{}
	for strategy, counts := range map[domain.Strategy]map[string]int64{
		domain.StrategyDelete: result.Deleted, domain.StrategyAnonymize: result.Anonymized,
		domain.StrategyRetain: result.Retained,
	} {
		for target, rows := range counts {
			steps[step{target, string(strategy)}] = rows
		}
	}
	return steps
}

// checkSteps checks that each step has one event in the trail, in a correct order. The steps on a table must be later
// than the steps on the tables that refer to it. On each table, the retaining step must be later than the anonymizing
// step.
func (w *world) checkSteps(steps map[step]int64, trail []domain.AuditEvent) {
	first, last := map[string]int{}, map[string]int{}
	var strategies []string
	for i, event := range trail {
		target, _ := event.Payload["target"].(string)
		strategy, _ := event.Payload["strategy"].(string)
		rows, planned := steps[step{target, strategy}]
		if !planned {
			w.Errorf("an event about no step of the result: %v", event.Payload)
		}
		w.checkEvent(event, domain.EventErasureStepSucceeded,
			domain.Payload{"target": target, "strategy": strategy, "rows": rows})
		if previous, again := last[target]; again && (previous != i-1 || strategies[previous] != "anonymize" ||
			strategy != "retain") {
			w.Errorf("the steps on %s are in disorder", target)
		}
		if _, again := first[target]; !again {
			first[target] = i
		}
		last[target] = i
		strategies = append(strategies, strategy)
	}
	for _, child := range w.mapped() {
		for _, l := range child.links {
			childLast, childHas := last[w.qualifier+child.name]
			parentFirst, parentHas := first[w.qualifier+l.to.name]
			if l.to != child && childHas && parentHas && childLast > parentFirst {
				w.Errorf("%s comes before %s, which refers to it", l.to.name, child.name)
			}
		}
	}
}

// checkEvent checks the type and the payload of an event. The operation id in the payload must be the event id of the
// latest event erasure_requested.
func (w *world) checkEvent(event domain.AuditEvent, of domain.EventType, payload domain.Payload) {
	if of == domain.EventErasureRequested {
		w.operation = event.EventID
	}
	payload["operation_id"] = w.operation
	if event.EventType != of || !maps.Equal(event.Payload, payload) {
		w.Errorf("the event is %s %v, not %s %v", event.EventType, event.Payload, of, payload)
	}
}

func total(counts map[string]int64) (sum int64) {
	for _, n := range slices.Collect(maps.Values(counts)) {
		sum += n
	}
	return sum
}
