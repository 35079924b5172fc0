package badday

import (
	"context"
	"strconv"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/results"
)

// The names of the results.
const (
	NameBacklog   = "Backlog"
	NameNeighbour = "Neighbour"
	NameChurn     = "Churn"
)

// Sizes are the sizes of the measurements.
type Sizes struct {
	Backlog   int           // outbox entries that cannot be claimed
	Rounds    int           // measured claims of each kind
	Entries   int           // outbox entries of each external system in Neighbour
	Neighbour time.Duration // maximum duration for each element of Neighbours
	PerSecond int           // outbox entries added per second
	Churn     time.Duration // total duration of both runs of Churn
	Samples   int           // number of samples in both runs of Churn
}

// Measure calls the functions Backlog, Neighbour and Churn, and returns all their results.
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
	interval := sizes.Churn / time.Duration(sizes.Samples)
	for _, run := range []struct {
		side     string
		d        time.Duration
		snapshot bool
	}{{"vacuumed", sizes.Churn, false}, {"old snapshot", sizes.Churn / 2, true}} {
		c.Progress("churn, " + run.side)
		samples, err := Churn(ctx, c, sizes.PerSecond, run.d, interval, run.snapshot)
		if err != nil {
			return nil, err
		}
		for i, sample := range samples {
			second := strconv.FormatFloat((time.Duration(i+1) * interval).Seconds(), 'g', 4, 64)
			for _, claims := range []struct {
				which string
				took  time.Duration
			}{{"median", sample.P50}, {"p99", sample.P99}} {
				values := []benchfmt.Value{results.Seconds(claims.took, "sec/op")}
				if claims.which == "median" {
					values = append(values, results.Value(float64(sample.Backlog), "open"))
				}
				all.Add(NameChurn, sample.Claims, values, "claims", claims.which, "second", second, "side", run.side)
			}
		}
	}
	return all, nil
}
