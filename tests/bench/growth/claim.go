package growth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/endpoints"
)

// batch is the number of outbox entries that the measured claims take in one statement.
const batch = 50

var claims = []operation{
	{name: "claim-1", side: endpoints.Habeas, samples: 40, due: batch, once: claim(1)},
	{name: "claim-50", side: endpoints.Habeas, samples: 40, due: batch, once: claim(batch)},
	{name: "claim-50-and-settle", side: endpoints.Habeas, samples: 10, due: 10 * batch, once: claimAndSettle},
}

// errRollback ends a session without a commit.
var errRollback = errors.New("rolled back")

// claim returns a function that measures a claim: a statement in which a worker takes up to limit outbox entries. The
// function rolls the claim back, so that the duration of a commit is not measured.
func claim(limit int) timed {
	return func(ctx context.Context, w *world, _ int64) (time.Duration, error) {
		var claimed []domain.OutboxEntry
		begin := time.Now()
		err := w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			if claimed, err = w.claim(ctx, s, limit); err != nil {
				return err
			}
			return errRollback
		})
		took := time.Since(begin)
		if !errors.Is(err, errRollback) {
			return 0, err
		}
		return took, enough(claimed, limit)
	}
}

func (w *world) claim(ctx context.Context, s ports.Session, limit int) ([]domain.OutboxEntry, error) {
	now := domain.Instant(time.Now())
	return s.Outbox().Claim(ctx, domain.ClaimQuery{
		Now: now, LeaseUntil: now.Add(time.Hour), LeaseToken: w.ids.NewID(),
		Takes: []domain.Take{{Resolver: "desk", Operation: domain.OperationErase, Fresh: limit}},
	})
}

func enough(claimed []domain.OutboxEntry, limit int) error {
	if len(claimed) != limit {
		return fmt.Errorf("%d entries were claimed, want %d", len(claimed), limit)
	}
	return nil
}

// claimAndSettle claims a batch of outbox entries in one transaction, and stores their outcomes in another transaction,
// as a worker does.
func claimAndSettle(ctx context.Context, w *world, _ int64) (time.Duration, error) {
	var claimed []domain.OutboxEntry
	begin := time.Now()
	if err := w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		claimed, err = w.claim(ctx, s, batch)
		return err
	}); err != nil {
		return 0, err
	}
	if err := enough(claimed, batch); err != nil {
		return 0, err
	}
	settlements := make([]domain.Settlement, len(claimed))
	for i, entry := range claimed {
		settlements[i] = domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded}
	}
	w.due -= len(claimed)
	err := w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		results, err := s.Outbox().Settle(ctx, settlements)
		for _, result := range results {
			if result.Stale {
				return errors.New("a settlement was stale")
			}
		}
		return err
	})
	return time.Since(begin), err
}
