package badday

import (
	"context"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/results"
)

// The names of the results.
const (
	NameBacklog   = "Backlog"
	NameNeighbour = "Neighbour"
)

// Sizes are the sizes of the measurements.
type Sizes struct {
	Backlog   int           // outbox entries that cannot be claimed
	Rounds    int           // measured claims of each kind
	Entries   int           // outbox entries of each external system in Neighbour
	Neighbour time.Duration // maximum duration for each element of Neighbours
}

// Measure calls the functions Backlog and Neighbour, and returns all their results.
func Measure(ctx context.Context, c Config, sizes Sizes) (all results.Set, err error) {
	costs, err := Backlog(ctx, c, sizes.Backlog, sizes.Rounds)
	if err != nil {
		return nil, err
	}
	for _, cost := range costs {
		for _, claim := range []struct {
			kind string
			took time.Duration
		}{{"idle", cost.Idle}, {"one", cost.One}, {"fifty", cost.Many}} {
			values := []benchfmt.Value{results.Seconds(claim.took, "sec/op")}
			all.Add(NameBacklog, sizes.Rounds, values, "claim", claim.kind, "side", cost.Backlog)
		}
	}
	rates, err := Neighbour(ctx, c, sizes.Entries, sizes.Neighbour)
	if err != nil {
		return nil, err
	}
	for _, rate := range rates {
		values := []benchfmt.Value{results.Value(rate.PerSecond, "entries/s")}
		all.Add(NameNeighbour, sizes.Entries, values, "side", rate.Neighbour)
	}
	return all, nil
}
