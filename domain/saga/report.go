package saga

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// OnFailure sets a function that is called for each attempt that failed, each entry that was abandoned and each that no
// process took for a day. The call comes after the commit. The entry is as for Config.OnAbandoned; cause is the error
// of the resolver, and nil where there was no call. Call must not block, and may be called concurrently; its panics are
// contained. A worker sets it, to write its log.
func (r *Runner) OnFailure(call func(ctx context.Context, entry domain.OutboxEntry, cause error)) {
	r.failures.Store(&call)
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
