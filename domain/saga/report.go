package saga

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// OnFailure sets a function that is called for each attempt that failed, each entry that was abandoned and each that no
// process took for a day. The call comes after the commit. The entry is as for Config.OnAbandoned; cause is the error
// of the resolver, and nil where there was no call. Call must not block, and may be called concurrently; its panics are
// contained. A worker sets it, to write its log.
func (r *Runner) OnFailure(call func(ctx context.Context, entry domain.OutboxEntry, cause error)) {
	r.failures.Store(&call)
}

// OnProgress sets a function that is called after each claim and each settlement. It must return at once. A worker sets
// it, to tell a RunOnce that takes long from one that is stuck; see LongestPause.
func (r *Runner) OnProgress(call func()) { r.progress.Store(&call) }

// LongestPause is the longest that a RunOnce which is not stuck takes from one call of OnProgress to the next: a lease
// and a call.
func (r *Runner) LongestPause() time.Duration { return r.config.Lease + r.config.CallTimeout }

func (r *Runner) progressed() {
	if call := r.progress.Load(); call != nil {
		(*call)()
	}
}

// report is called for what OnFailure describes. The commit is done: whatever the function does changes nothing.
func (r *Runner) report(ctx context.Context, entry domain.OutboxEntry, cause error) {
	call := r.failures.Load()
	if call == nil {
		return
	}
	defer func() { _ = recover() }()
	(*call)(ctx, entry, cause)
}

// tell reports an entry that a person has to look into, and calls the hook for it.
func (r *Runner) tell(ctx context.Context, entry domain.OutboxEntry, cause error) {
	r.report(ctx, entry, cause)
	if r.config.OnAbandoned == nil {
		return
	}
	defer func() { _ = recover() }()
	r.config.OnAbandoned(ctx, entry)
}
