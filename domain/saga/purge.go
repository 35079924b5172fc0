package saga

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// purgeBatch is how many entries one session removes.
const purgeBatch = 1000

// Purge removes entries that succeeded and are older than Retention, a thousand in each session, until none is left or
// ctx ends. It returns how many it removed. Then it calls OnLate. A worker calls it every hour.
func (r *Runner) Purge(ctx context.Context) (removed int64, err error) {
	for {
		n, err := r.purge(ctx)
		removed += n
		if err != nil {
			return removed, err
		}
		if n < purgeBatch {
			break
		}
	}
	return removed, r.reportLate(ctx)
}

func (r *Runner) purge(ctx context.Context) (removed int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		removed, err = s.Outbox().Purge(ctx, domain.Instant(r.config.Clock.Now().Add(-r.config.Retention)), purgeBatch)
		return err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// reportLate calls OnLate, where the store knows what is late.
func (r *Runner) reportLate(ctx context.Context) error {
	if r.config.OnLate == nil {
		return nil
	}
	backlogs, known, err := r.backlogs(ctx)
	switch {
	case err != nil:
		return err
	case !known:
		return domain.Misconfigured("outbox", "OnLate needs a store that implements ports.OutboxOperations")
	}
	for _, backlog := range backlogs {
		if backlog.Oldest != nil && r.config.Clock.Now().Sub(*backlog.Oldest) >= r.config.LateAfter {
			r.tellLate(ctx, backlog)
		}
	}
	return nil
}

func (r *Runner) tellLate(ctx context.Context, backlog domain.OutboxBacklog) {
	defer func() { _ = recover() }()
	r.config.OnLate(ctx, backlog)
}
