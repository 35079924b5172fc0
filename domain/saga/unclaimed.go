package saga

import (
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

const (
	// unclaimedAfter is how long an entry is due before it is reported that no process takes it.
	unclaimedAfter = 24 * time.Hour
	// unclaimedInterval is how often a runner looks for such entries at most.
	unclaimedInterval = time.Hour
	// unclaimedBatch is how many of them are marked together.
	unclaimedBatch = 500
)

// watch says when to look for entries that no process takes.
type watch struct {
	mu   sync.Mutex
	next time.Time // zero before the first time
}

// isDue reports whether to look now, and then notes it. After a full claim it is better to look later: what is due may
// only be behind, in a backlog that this process works on; but not later than after another interval.
func (w *watch) isDue(now time.Time, full bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next.IsZero() || w.next.Sub(now) > unclaimedInterval { // also where the clock was put back
		w.next = now
	}
	if now.Before(w.next) || full && now.Before(w.next.Add(unclaimedInterval)) {
		return false
	}
	w.next = now.Add(unclaimedInterval)
	return true
}

// reportUnclaimed records which entries no process took for a day, and calls the hook for each. They stay as they
// are, for a process that knows their resolver.
func (r *Runner) reportUnclaimed(ctx context.Context) error {
	for ctx.Err() == nil {
		found, err := r.markUnclaimed(ctx)
		if err != nil {
			return err
		}
		for _, entry := range found {
			r.tell(ctx, entry, nil)
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

// recordFailure leaves the event of an entry that failed without a call. There is none where the subject cannot be
// read, or the operation is not known here.
func (r *Runner) recordFailure(
	ctx context.Context, s ports.Session, entry domain.OutboxEntry, class string, abandoned bool,
) error {
	types, known := eventTypes[entry.Operation]
	if !known || entry.SubjectID.IsZero() {
		return nil
	}
	return s.Audit().Append(ctx, r.audit.Operation(ctx, entry.OperationID).Event(types.failed, entry.SubjectID, domain.Payload{
		"target": entry.Resolver, "external": true, "attempts": entry.Attempts, "error": class, "abandoned": abandoned,
	}))
}
