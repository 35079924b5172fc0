package growth

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// timed runs an operation for a user and returns the duration of the operation.
type timed func(ctx context.Context, w *world, user int64) (time.Duration, error)

// operation is a measured operation. Its cost should not depend on the number of rows that belong to other users.
type operation struct {
	name    string
	side    string
	samples int // number of measured runs in each round
	due     int // outbox entries that must be due before each round
	// whom selects the user for one run of the operation. It is nil if the operation needs no user.
	whom func(w *world) int64
	// This optional function runs before each measured run of the operation, and is not measured.
	before func(ctx context.Context, w *world, user int64) error
	once   timed
}

const erasuresInRound = 10

// onBothSides returns the operations of the hand-written server, and then the operations of the server with habeas.
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

// first returns a function that runs the operation once before the measured run, without measuring it. During the
// measured run, PostgreSQL then has the rows of the user in its memory.
func first(once timed) func(context.Context, *world, int64) error {
	return func(ctx context.Context, w *world, user int64) error {
		_, err := once(ctx, w, user)
		return err
	}
}

// prepared returns a function to call before the measured run. The function runs the operation once and then writes a
// checkpoint. At the first change of a page after a checkpoint, PostgreSQL writes the complete page to the WAL. With a
// checkpoint before each measured run, small and large tables have this cost equally.
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
