package saga

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Events are functions that Runner.RunWith calls while it works. Each function may be nil, must return immediately, and
// may be called concurrently. A worker sets all of them.
type Events struct {
	// Progress is called after each successful claim of entries and each successful write of outcomes. It distinguishes a
	// slow run from one that hangs, see Runner.LongestPause.
	Progress func()
	// Full is called after each claim that may have left due entries, because the batch had no room for them. Other runs
	// can claim them.
	Full func()
	// Failed is called after the commit with an outbox entry that did not succeed: an attempt failed, the entry was
	// abandoned, or it has been due for a day without a claim. See Config.OnAbandoned for the fields of the entry. The
	// parameter cause is the error of the resolver, or nil if there was no call. The function must not log the SubjectID
	// and the Ref of the entry, because they identify a person. Its panics are recovered and ignored.
	Failed func(ctx context.Context, entry domain.OutboxEntry, cause error)
}

// LongestPause returns the longest time between two calls of Events.Progress during a run that does not hang: Lease
// plus CallTimeout.
func (r *Runner) LongestPause() time.Duration { return r.config.Lease + r.config.CallTimeout }

func (e Events) progress() {
	if e.Progress != nil {
		e.Progress()
	}
}

func (e Events) full() {
	if e.Full != nil {
		e.Full()
	}
}

// failed calls Events.Failed. The outcome is already committed, so errors and panics of the function have no effect.
func (e Events) failed(ctx context.Context, entry domain.OutboxEntry, cause error) {
	if e.Failed == nil {
		return
	}
	defer func() { _ = recover() }()
	e.Failed(ctx, entry, cause)
}

// report calls the functions Events.Failed and Config.OnAbandoned with an outbox entry that a person must check.
func (n *run) report(ctx context.Context, entry domain.OutboxEntry, cause error) {
	n.events.failed(ctx, entry, cause)
	if n.config.OnAbandoned == nil {
		return
	}
	defer func() { _ = recover() }()
	n.config.OnAbandoned(ctx, entry)
}
