package growth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// operation is something whose cost should not depend on how much there is of what it does not concern.
type operation struct {
	name    string
	samples int // in a round
	due     int // entries that have to be in the outbox before the samples
	// whom chooses the subject of a sample; nil where there is none.
	whom func(w *world) (domain.Subject, error)
	// before is done for the subject first, unmeasured: what it reads is in the memory of the database then. nil for nothing.
	before func(ctx context.Context, w *world, subject domain.Subject) error
	once   func(ctx context.Context, w *world, subject domain.Subject) error
}

// batch is how much the runner of habeas claims by default.
const batch = 50

var claims = []operation{
	{name: "Claim of 1, rolled back", samples: 40, due: batch, once: claim(1)},
	{name: "Claim of 50, rolled back", samples: 40, due: batch, once: claim(batch)},
	{name: "Claim of 50 and settlement", samples: 10, due: 10 * batch, once: claimAndSettle},
}

var consents = []operation{
	{name: "Consent status", samples: 400, whom: (*world).someone, once: status},
	{name: "Consent status, again", samples: 400, whom: (*world).someone, before: status, once: status},
}

const erasuresInRound = 10

var subjects = []operation{
	{name: "Export", samples: 40, whom: (*world).user, once: export},
	{name: "Export, again", samples: 40, whom: (*world).user, before: export, once: export},
	{name: "Erasure", samples: erasuresInRound, whom: (*world).lastUser, once: erase},
	{name: "Erasure, after an export", samples: erasuresInRound, whom: (*world).lastUser, before: export, once: erase},
}

// errRollback ends a session without a commit.
var errRollback = errors.New("rolled back")

// claim claims so many entries and gives them back: what is measured is the claim, and no commit.
func claim(limit int) func(context.Context, *world, domain.Subject) error {
	return func(ctx context.Context, w *world, _ domain.Subject) error {
		var claimed []domain.OutboxEntry
		err := w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			if claimed, err = w.claim(ctx, s, limit); err != nil {
				return err
			}
			return errRollback
		})
		if !errors.Is(err, errRollback) {
			return err
		}
		return enough(claimed, limit)
	}
}

func (w *world) claim(ctx context.Context, s ports.Session, limit int) ([]domain.OutboxEntry, error) {
	now := domain.Instant(time.Now())
	return s.Outbox().Claim(ctx, limit, now, now.Add(time.Hour), w.ids.NewID())
}

func enough(claimed []domain.OutboxEntry, limit int) error {
	if len(claimed) != limit {
		return fmt.Errorf("%d entries were claimed, want %d", len(claimed), limit)
	}
	return nil
}

// claimAndSettle does what a worker does with a batch, in two transactions.
func claimAndSettle(ctx context.Context, w *world, _ domain.Subject) error {
	var claimed []domain.OutboxEntry
	if err := w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		claimed, err = w.claim(ctx, s, batch)
		return err
	}); err != nil {
		return err
	}
	if err := enough(claimed, batch); err != nil {
		return err
	}
	settlements := make([]domain.Settlement, len(claimed))
	for i, entry := range claimed {
		settlements[i] = domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded}
	}
	w.due -= len(claimed)
	return w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		results, err := s.Outbox().Settle(ctx, settlements)
		for _, result := range results {
			if result.Stale {
				return errors.New("a settlement was stale")
			}
		}
		return err
	})
}

func status(ctx context.Context, w *world, subject domain.Subject) error {
	return w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		status, err := w.stack.Consent.Status(ctx, s, subject.ID, "newsletter")
		if err == nil && !status.Granted {
			err = errors.New("a consent was not found")
		}
		return err
	})
}

func export(ctx context.Context, w *world, subject domain.Subject) error {
	return w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		bundle, err := w.stack.Exporter.Export(ctx, s, subject)
		if err == nil && len(bundle.Records) != recordsOf(SmallestSubject) {
			err = fmt.Errorf("%d records, want %d", len(bundle.Records), recordsOf(SmallestSubject))
		}
		return err
	})
}

// recordsOf is how many fields are exported of a user who has so many rows: three of each, and four of their own row and
// of both addresses.
func recordsOf(rows int) int { return 3*rows + 3 }

func erase(ctx context.Context, w *world, subject domain.Subject) error {
	return w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		result, err := w.stack.Eraser.Erase(ctx, s, subject)
		if err == nil && result.Anonymized["orders"] != ordersOfUser {
			err = fmt.Errorf("%d orders were anonymized, want %d", result.Anonymized["orders"], ordersOfUser)
		}
		return err
	})
}
