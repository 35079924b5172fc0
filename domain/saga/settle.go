package saga

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// gatherTime is how long an outcome waits for other outcomes of its batch, so that one transaction settles several
// outcomes.
const gatherTime = 20 * time.Millisecond

// settle writes the given number of outcomes to the store as they arrive. It writes outcomes that arrive at nearly the
// same time in one transaction.
func (n *run) settle(ctx context.Context, results <-chan attempted, left int) (settled int, err error) {
	for left > 0 {
		gathered := n.collect(results, left)
		left -= len(gathered)
		done, failure := n.record(ctx, gathered)
		settled += done
		err = errors.Join(err, failure)
	}
	return settled, err
}

// collect waits for a result and returns the outcomes of up to most results that arrive within gatherTime.
func (r *Runner) collect(results <-chan attempted, most int) []outcome {
	gathered := []outcome{r.outcomeOf(<-results)}
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	for len(gathered) < most {
		select {
		case result := <-results:
			gathered = append(gathered, r.outcomeOf(result))
		case <-timer.C:
			return gathered
		}
	}
	return gathered
}

// record writes outcomes and their audit events in one transaction. It returns the number of settled entries. It does
// not count an entry that is returned to the outbox without a call, or that another runner has taken over.
func (n *run) record(ctx context.Context, outcomes []outcome) (settled int, err error) {
	var failed []outcome
	err = n.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		settled, failed = 0, nil // Do may call the function again
		outcomes, err := n.spareYoung(ctx, s, outcomes)
		if err != nil {
			return err
		}
		settlements := make([]domain.Settlement, len(outcomes))
		for i, o := range outcomes {
			settlements[i] = o.settlement
		}
		results, err := s.Outbox().Settle(ctx, settlements)
		if err != nil {
			return err
		}
		for i, o := range outcomes {
			if results[i].Stale || o.settlement.Status == domain.OutboxPending {
				continue
			}
			settled++
			if !o.settlement.Status.IsDone() {
				failed = append(failed, o)
			}
			if err := s.Audit().Append(ctx, n.eventsOf(ctx, o, results[i].Completes)...); err != nil {
				return err
			}
			if results[i].Completes {
				if err := n.complete(ctx, s, o.settlement.Entry); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	n.events.progress()
	for _, o := range failed {
		if o.settlement.Status == domain.OutboxAbandoned {
			n.report(ctx, o.settled(), o.cause)
		} else {
			n.events.failed(ctx, o.settled(), o.cause)
		}
	}
	return settled, nil
}

// spareYoung prevents the abandonment of entries that were tried for less than GiveUpAfter. An entry waits for its
// first attempt, or after a requeue for its next one, while no worker runs. This time is no failure of its system.
func (r *Runner) spareYoung(ctx context.Context, s ports.Session, outcomes []outcome) ([]outcome, error) {
	var tooOld []string
	for _, o := range outcomes {
		if o.ifYoung != nil {
			tooOld = append(tooOld, o.settlement.Entry.EntryID)
		}
	}
	if len(tooOld) == 0 {
		return outcomes, nil
	}
	first, err := s.Outbox().FirstClaims(ctx, tooOld)
	if err != nil {
		return nil, err
	}
	outcomes = slices.Clone(outcomes)
	for i, o := range outcomes {
		if o.ifYoung != nil && !r.isTooOld(firstOr(first, o.settlement.Entry)) {
			outcomes[i].settlement = *o.ifYoung
		}
	}
	return outcomes, nil
}

// firstOr returns the first claim of an entry, or its intake if the store does not know the claim.
func firstOr(first map[string]time.Time, entry domain.OutboxEntry) time.Time {
	if at, known := first[entry.EntryID]; known {
		return at
	}
	return entry.EnqueuedAt
}

// settled returns the entry as it is after the settlement (the write of the outcome). Unlike the settlement, it does
// not remove the ref, the subject's id in the external system.
func (o outcome) settled() domain.OutboxEntry {
	entry := o.settlement.Entry
	entry.Status, entry.LastError = o.settlement.Status, &o.settlement.LastError
	entry.NextAttemptAt, entry.LeaseToken, entry.Corrections = nil, nil, nil
	return entry
}

// eventsOf returns the audit events of an outcome. It returns no events for an operation that this version of habeas
// does not know.
func (r *Runner) eventsOf(ctx context.Context, o outcome, completes bool) []domain.AuditEvent {
	entry := o.settlement.Entry
	of, known := operations[entry.Operation]
	if !known {
		return nil
	}
	operation := r.audit.Operation(ctx, entry.OperationID)
	payload := domain.Payload{"target": entry.Resolver, "external": true, "attempts": entry.Attempts}
	if !o.settlement.Status.IsDone() {
		payload["error"] = o.settlement.LastError
		payload["abandoned"] = o.settlement.Status == domain.OutboxAbandoned
		return []domain.AuditEvent{operation.Event(of.failed, entry.SubjectID, payload)}
	}
	payload["already_absent"] = o.alreadyAbsent
	if o.settlement.Status == domain.OutboxSpared {
		payload["spared"] = true
	}
	events := []domain.AuditEvent{operation.Event(of.succeeded, entry.SubjectID, payload)}
	if completes {
		events = append(events, operation.Event(of.completed, entry.SubjectID, nil))
	}
	return events
}
