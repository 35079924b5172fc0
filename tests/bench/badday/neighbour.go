package badday

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/ports"
)

// Rate is the number of outbox entries per second that a worker processes for a healthy external system. A second
// external system may fail at the same time.
type Rate struct {
	Neighbour string
	PerSecond float64
	Calls     int64 // calls to the second system
}

var errDown = errors.New("the system is down")

// Neighbours has the tested behaviours of a second external system, which may slow down the calls to a healthy external
// system. A nil function means that there is no second system.
var Neighbours = []struct {
	Name  string
	erase func(ctx context.Context) error
}{
	{"none", nil},
	{"refuses", func(context.Context) error { return errDown }},
	{"hangs", func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}},
}

// Neighbour measures how many outbox entries per second a worker with default settings processes for a healthy external
// system. It repeats the measurement for each element of Neighbours. The outbox has the same number of entries for the
// healthy system and for the second one.
func Neighbour(ctx context.Context, c Config, entries int, d time.Duration) (rates []Rate, err error) {
	for _, neighbour := range Neighbours {
		c.Progress("a healthy system, beside it: " + neighbour.Name)
		w, err := c.open(ctx, "neighbour_"+neighbour.Name)
		if err != nil {
			return nil, err
		}
		defer w.close()
		var done, other atomic.Int64
		systems := []ports.Resolver{desk{"desk", func(context.Context) error {
			done.Add(1)
			return nil
		}}}
		if err := w.enqueue(ctx, "desk", entries); err != nil {
			return nil, err
		}
		if neighbour.erase != nil {
			systems = append(systems, desk{"crm", func(ctx context.Context) error {
				other.Add(1)
				return neighbour.erase(ctx)
			}})
			if err := w.enqueue(ctx, "crm", entries); err != nil {
				return nil, err
			}
		}
		runner, err := w.runner(w.store, systems...)
		if err != nil {
			return nil, err
		}
		work, err := worker.New(runner, worker.Options{})
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		work.Start() //nolint:contextcheck // the worker runs until it is stopped
		for time.Since(begin) < d && done.Load() < int64(entries) && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		took := time.Since(begin)
		rates = append(rates, Rate{neighbour.Name, float64(done.Load()) / took.Seconds(), other.Load()})
		if err := work.Stop(time.Minute); err != nil {
			return nil, err
		}
	}
	return rates, nil
}
