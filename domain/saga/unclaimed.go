package saga

import (
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

const (
	// unclaimedAfter is how long an entry must be due before a runner reports it as unclaimed.
	unclaimedAfter = 24 * time.Hour
	// unclaimedInterval is the minimum time between two searches of a runner for unclaimed entries.
	unclaimedInterval = time.Hour
	// unclaimedBatch is the number of entries that one session records as unclaimed.
	unclaimedBatch = 500
)

// schedule is the schedule of the searches for unclaimed entries.
type schedule struct {
	mu   sync.Mutex
	next time.Time // zero before the first search
}

// isDue reports whether to search for unclaimed entries now. If it reports true, it schedules the next search. The
// parameter afterFullBatch is true if the last claim returned a full batch. An old entry may then be claimed soon,
// because this process still works on a backlog. isDue therefore postpones the search by up to one interval.
func (s *schedule) isDue(now time.Time, afterFullBatch bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next.IsZero() || s.next.Sub(now) > unclaimedInterval { // also if the clock was set back
		s.next = now
	}
	if now.Before(s.next) || afterFullBatch && now.Before(s.next.Add(unclaimedInterval)) {
		return false
	}
	s.next = now.Add(unclaimedInterval)
	return true
}

// reportUnclaimed records the entries that have been due for a day without a claim, and calls OnAbandoned for each. The
// entries stay due, so a process that knows their resolver can still claim them.
func (n *run) reportUnclaimed(ctx context.Context) error {
	for ctx.Err() == nil {
		found, err := n.markUnclaimed(ctx)
		if err != nil {
			return err
		}
		for _, entry := range found {
			n.report(ctx, entry, nil)
		}
		if len(found) < unclaimedBatch {
			break
		}
	}
	return nil
}

func (r *Runner) markUnclaimed(ctx context.Context) (found []domain.OutboxEntry, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		dueBefore := domain.Instant(r.config.Clock.Now().Add(-unclaimedAfter))
		if found, err = s.Outbox().Unclaimed(ctx, dueBefore, unclaimedBatch); err != nil {
			return err
		}
		for _, entry := range found {
			if err := r.recordFailure(ctx, s, entry, domain.LastErrorUnclaimed, false); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// recordFailure appends the event of an entry that failed without a call of its resolver. It appends no event in two
// cases: the id of the subject cannot be read, or this version of habeas does not know the operation.
func (r *Runner) recordFailure(
	ctx context.Context, s ports.Session, entry domain.OutboxEntry, class string, abandoned bool,
) error {
	of, known := operations[entry.Operation]
	if !known || entry.SubjectID.IsZero() {
		return nil
	}
	operation := r.audit.Operation(ctx, entry.OperationID)
	return s.Audit().Append(ctx, operation.Event(of.failed, entry.SubjectID, domain.Payload{
		"target": entry.Resolver, "external": true, "attempts": entry.Attempts, "error": class, "abandoned": abandoned,
	}))
}
