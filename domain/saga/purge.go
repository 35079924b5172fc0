package saga

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// purgeBatch is the number of entries that one session removes.
const purgeBatch = 1000

// Purge removes succeeded entries that are older than Retention, a thousand per session, until no such entry is left or
// a session fails. It returns the number of removed entries. A worker calls Purge every hour.
func (r *Runner) Purge(ctx context.Context) (removed int64, err error) {
	for {
		n, err := r.purge(ctx)
		removed += n
		if err != nil || n < purgeBatch {
			return removed, err
		}
	}
}

func (r *Runner) purge(ctx context.Context) (removed int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		removed, err = s.OutboxAdmin().Purge(ctx, domain.Instant(r.config.Clock.Now().Add(-r.config.Retention)), purgeBatch)
		return err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}
