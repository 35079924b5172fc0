package growth

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// timed does something for a user, and returns how long it took.
type timed func(ctx context.Context, w *world, user int64) (time.Duration, error)

// operation is something whose cost should not depend on how much there is of what it does not concern.
type operation struct {
	name    string
	side    string
	samples int // in a round
	due     int // entries that have to be in the outbox before the samples
	// whom chooses the user of a sample; nil where there is none.
	whom func(w *world) int64
	// before is done for the user first, unmeasured; nil for nothing.
	before func(ctx context.Context, w *world, user int64) error
	once   timed
}

const erasuresInRound = 10

// onBothSides are the operations of a topic: those of the hand-written server, then those of habeas.
func onBothSides(of func(side string) []operation) []operation {
	return append(of(endpoints.Floor), of(endpoints.Habeas)...)
}

func consents(side string) []operation {
	const name = "consent_get"
	return []operation{
		{name: name, side: side, samples: 400, whom: (*world).someone, once: status(side)},
		{
			name: name + "-again", side: side, samples: 400, whom: (*world).someone,
			before: first(status(side)), once: status(side),
		},
	}
}

func subjects(side string) []operation {
	return []operation{
		{name: "export", side: side, samples: 40, whom: (*world).user, once: export(side)},
		{name: "export-again", side: side, samples: 40, whom: (*world).user, before: first(export(side)), once: export(side)},
		{name: "erase", side: side, samples: erasuresInRound, whom: (*world).lastUser, once: erase(side)},
		{
			name: "erase-prepared", side: side, samples: erasuresInRound, whom: (*world).lastUser,
			before: prepared(export(side)), once: erase(side),
		},
	}
}

// first does it once already: what it reads of the user is in the memory of the database then.
func first(once timed) func(context.Context, *world, int64) error {
	return func(ctx context.Context, w *world, user int64) error {
		_, err := once(ctx, w, user)
		return err
	}
}

// prepared lets a checkpoint follow: each page that changes is logged as a whole then, in small tables as in large
// ones.
func prepared(once timed) func(context.Context, *world, int64) error {
	return func(ctx context.Context, w *world, user int64) error {
		if err := first(once)(ctx, w, user); err != nil {
			return err
		}
		return shop.Execute(ctx, w.url, "CHECKPOINT")
	}
}

func status(side string) timed {
	return func(ctx context.Context, w *world, user int64) (time.Duration, error) {
		return statusOver(ctx, w.servers[side], user)
	}
}

func export(side string) timed {
	return func(ctx context.Context, w *world, user int64) (time.Duration, error) {
		_, took, err := exportOver(ctx, w.servers[side], user, SmallestSubject)
		return took, err
	}
}

func erase(side string) timed {
	return func(ctx context.Context, w *world, user int64) (time.Duration, error) {
		return eraseOver(ctx, w.servers[side], user, SmallestSubject)
	}
}
