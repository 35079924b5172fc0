package saga

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// lost returns the ids of the entries of which too many attempts ended without an outcome. An attempt has no outcome if
// the process dies, or if the lease expires before the outcome is written. If the first claims cannot be read, lost
// returns only the entries that were tried more than MaxAttempts times.
func (r *Runner) lost(ctx context.Context, entries []domain.OutboxEntry) map[string]bool {
	doublings := int(math.Log2(float64(r.config.MaxBackoff/r.config.FirstBackoff + 1)))
	most := 2*int(r.config.GiveUpAfter/r.config.MaxBackoff) + 2*doublings + 10 // jitter halves waits
	ids, suspects := map[string]bool{}, map[string]domain.OutboxEntry{}
	for _, entry := range entries {
		switch {
		case r.config.MaxAttempts > 0 && entry.Attempts > r.config.MaxAttempts:
			ids[entry.EntryID] = true
		case entry.Attempts > most && r.isTooOld(entry.EnqueuedAt):
			suspects[entry.EntryID] = entry
		}
	}
	if len(suspects) == 0 {
		return ids
	}
	first, err := r.firstClaims(ctx, suspects)
	for id, entry := range suspects {
		if err == nil && r.isTooOld(firstOr(first, entry)) {
			ids[id] = true
		}
	}
	return ids
}

func (r *Runner) firstClaims(
	ctx context.Context, entries map[string]domain.OutboxEntry,
) (first map[string]time.Time, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.config.CallTimeout)
	defer cancel()
	ids := slices.Collect(maps.Keys(entries))
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		first, err = s.Outbox().FirstClaims(ctx, ids)
		return err
	})
	return first, err
}
