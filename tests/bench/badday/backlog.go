package badday

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// settled is the backlog of entries that were settled under a snapshot that is still open. PostgreSQL cannot remove the
// old versions of these entries.
const settled = "settled under an old snapshot"

// Backlogs has the kinds of outbox entries that a worker must not claim. Each value is a list of SQL expressions for
// the columns resolver, status, attempts, last_attempt_at and next_attempt_at.
var Backlogs = map[string]string{
	settled:               "'desk', 'pending', 0, NULL, NULL",
	"waiting for a retry": "'desk', 'failed', 3, now() - interval '1 minute', now() + interval '1 hour'",
	"leased":              "'desk', 'in_flight', 1, now(), now() + interval '1 hour'",
	"of another system":   "'crm', 'pending', 0, NULL, NULL",
}

// Cost is the duration of claims (statements with which a worker takes outbox entries) in one outbox.
type Cost struct {
	Backlog         string
	Entries         int
	One, Many, Idle time.Duration // medians of claims of 1 entry, 50 entries and no entry
}

// Backlog measures the durations of claims (a claim is the statement with which a worker takes a batch of outbox
// entries). It uses an outbox without a backlog, and one outbox for each kind in Backlogs, with the given number of
// entries of this kind. Each result is the median of the given number of rounds.
func Backlog(ctx context.Context, c Config, entries, rounds int) (costs []Cost, err error) {
	type place struct {
		*world
		name string
	}
	var places []place
	for i, name := range []string{"none", "waiting for a retry", "leased", "of another system", settled} {
		w, err := c.open(ctx, fmt.Sprintf("backlog_%d", i))
		if err != nil {
			return nil, err
		}
		defer w.close()
		if columns, parked := Backlogs[name]; parked {
			c.Progress(fmt.Sprintf("parking %d entries: %s", entries, name))
			if err := shop.Execute(ctx, w.url, fmt.Sprintf("INSERT INTO habeas_outbox (entry_id, subject_id, operation,"+
				" enqueued_at, resolver, status, attempts, last_attempt_at, next_attempt_at)"+
				" SELECT gen_random_uuid(), 'parked-' || n, 'erase',"+
				" now() - interval '1 hour', %s FROM generate_series(1, %d) AS n", columns, entries)); err != nil {
				return nil, err
			}
		}
		if name == settled {
			release, err := w.settleUnderSnapshot(ctx)
			if err != nil {
				return nil, err
			}
			defer release()
		}
		if err := shop.Execute(ctx, w.url, "VACUUM ANALYZE"); err != nil {
			return nil, err
		}
		places = append(places, place{w, name})
	}
	costs = make([]Cost, len(places))
	idle, one, many := make([]durations, len(places)), make([]durations, len(places)), make([]durations, len(places))
	for i, p := range places {
		costs[i].Backlog, costs[i].Entries = p.name, entries
	}
	for _, step := range []struct {
		limit int
		into  []durations
	}{{50, idle}, {1, one}, {50, many}} {
		if step.limit == 1 {
			for _, p := range places {
				if err := p.enqueue(ctx, "desk", 500); err != nil {
					return nil, err
				}
			}
		}
		for range rounds {
			for i, p := range places {
				took, err := p.claim(ctx, step.limit)
				if err != nil {
					return nil, err
				}
				step.into[i] = append(step.into[i], took)
			}
		}
	}
	for i := range costs {
		costs[i].Idle, costs[i].One, costs[i].Many = idle[i].quantile(0.5), one[i].quantile(0.5), many[i].quantile(0.5)
	}
	return costs, nil
}

// settleUnderSnapshot claims and settles all entries while a transaction is open, which ends with release.
func (w *world) settleUnderSnapshot(ctx context.Context) (release func(), err error) {
	holder, err := pgx.Connect(ctx, w.url)
	if err != nil {
		return nil, err
	}
	release = func() { _ = holder.Close(context.WithoutCancel(ctx)) }
	_, err = holder.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM habeas_outbox")
	for _, change := range []string{
		"status = 'in_flight', attempts = 1, last_attempt_at = now(), next_attempt_at = now() - interval '1 minute'",
		"status = 'succeeded', next_attempt_at = NULL",
	} {
		if err == nil {
			err = shop.Execute(ctx, w.url, "UPDATE habeas_outbox SET "+change)
		}
	}
	if err != nil {
		release()
	}
	return release, err
}

var errRollback = errors.New("rolled back")

// claim returns the duration of a transaction that claims up to limit outbox entries and is rolled back.
func (w *world) claim(ctx context.Context, limit int) (took time.Duration, err error) {
	begin := time.Now()
	err = w.store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		now := domain.Instant(time.Now())
		kept := limit / 10
		_, err := s.Outbox().Claim(ctx, domain.ClaimQuery{
			Now: now, LeaseUntil: now.Add(5 * time.Minute), LeaseToken: w.ids.NewID(), Takes: []domain.Take{
				{Resolver: "desk", Operation: domain.OperationErase, Fresh: limit - kept, Retries: kept},
			},
		})
		if err != nil {
			return err
		}
		return errRollback
	})
	if !errors.Is(err, errRollback) {
		return 0, fmt.Errorf("claim: %w", err)
	}
	return time.Since(begin), nil
}
