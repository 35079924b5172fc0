package growth

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/results"
)

func TestEverySizeHasItsTurnInEachRound(t *testing.T) {
	var turns []int
	counts := operation{samples: 3, once: func(_ context.Context, w *world, _ int64) (time.Duration, error) {
		turns = append(turns, w.size)
		return 0, nil
	}}
	var all results.Set
	c := Config{Rounds: 2}
	if err := c.measure(t.Context(), Claims, counts, []*world{{size: 1}, {size: 2}}, &all); err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 2}; !slices.Equal(turns, want) {
		t.Errorf("turns = %v, want %v", turns, want)
	}
	if len(all.With("rows", 1)) != 2 || len(all.With("rows", 2)) != 2 {
		t.Errorf("%d results, want two of each size and no warm-up", len(all))
	}
}

func TestWhatIsDoneAgainIsMeasuredOnce(t *testing.T) {
	var done []int64
	once := func(_ context.Context, _ *world, user int64) (time.Duration, error) {
		done = append(done, user)
		return time.Duration(len(done)), nil
	}
	again := operation{whom: func(*world) int64 { return 7 }, before: first(once), once: once}
	took, err := again.sample(t.Context(), &world{})
	if err != nil || !slices.Equal(done, []int64{7, 7}) || took != 2 {
		t.Errorf("done for %v in %v, %v", done, took, err)
	}
}

func TestBothSidesDoTheSame(t *testing.T) {
	for _, of := range []func(string) []operation{consents, subjects} {
		both := onBothSides(of)
		half := len(both) / 2
		for i, floor := range both[:half] {
			habeas := both[half+i]
			if floor.side != endpoints.Floor || habeas.side != endpoints.Habeas ||
				floor.name != habeas.name || floor.samples != habeas.samples {
				t.Errorf("%+v does not match %+v", habeas, floor)
			}
		}
	}
}

func TestAnOperationThatFailsEndsTheMeasurement(t *testing.T) {
	failure := errors.New("failure")
	fails := operation{samples: 1, once: func(context.Context, *world, int64) (time.Duration, error) { return 0, failure }}
	err := Config{}.measure(t.Context(), Claims, fails, []*world{{}}, &results.Set{})
	if !errors.Is(err, failure) {
		t.Errorf("error = %v", err)
	}
}
