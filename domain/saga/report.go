package saga

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// OnFailure sets a function that is called after the commit with an outbox entry that did not succeed. There are three
// cases:
//
//   - An attempt failed.
//   - The entry was abandoned.
//   - The entry has been due for a day without a claim.
//
// See Config.OnAbandoned for the fields of the entry. The parameter cause is the error of the resolver, or nil if there
// was no call. The function must not block and may be called concurrently. It must not log the SubjectID and the Ref of
// the entry, because they identify a person. Its panics are recovered and ignored. A worker sets it to write its log.
func (r *Runner) OnFailure(call func(ctx context.Context, entry domain.OutboxEntry, cause error)) {
	r.failures.Store(&call)
}

// OnProgress sets a function that is called after each claim of entries and each write of outcomes. The function must
// return immediately. A worker sets it to distinguish a slow RunOnce from one that hangs. See LongestPause.
func (r *Runner) OnProgress(call func()) { r.progress.Store(&call) }

// LongestPause returns the longest time between two calls of the OnProgress function during a RunOnce that does not
// hang: Lease plus CallTimeout.
func (r *Runner) LongestPause() time.Duration { return r.config.Lease + r.config.CallTimeout }

func (r *Runner) progressed() {
	if call := r.progress.Load(); call != nil {
		(*call)()
	}
}

// report calls the OnFailure function. The outcome is already committed, so errors and panics of the function have no
// effect.
func (r *Runner) report(ctx context.Context, entry domain.OutboxEntry, cause error) {
	call := r.failures.Load()
	if call == nil {
		return
	}
	defer func() { _ = recover() }()
	(*call)(ctx, entry, cause)
}

// reportEntry calls the functions OnFailure and OnAbandoned with an outbox entry that a person must check.
func (r *Runner) reportEntry(ctx context.Context, entry domain.OutboxEntry, cause error) {
	r.report(ctx, entry, cause)
	if r.config.OnAbandoned == nil {
		return
	}
	defer func() { _ = recover() }()
	r.config.OnAbandoned(ctx, entry)
}
