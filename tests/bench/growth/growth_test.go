package growth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

func milli(values ...int) []time.Duration {
	durations := make([]time.Duration, len(values))
	for i, value := range values {
		durations[i] = time.Duration(value) * time.Millisecond
	}
	return durations
}

var claimed = Series{
	Operation: "Claim", Side: endpoints.Habeas,
	Rounds: [][]time.Duration{milli(2, 4, 2), milli(9, 9, 9), milli(2, 6, 4)},
}

func TestTheFactorIsThatOfTheLargestToTheSmallestRoundByRound(t *testing.T) {
	if got, want := claimed.Factor(), (stats.Spread{Median: 1.5, Min: 1, Max: 2}); got != want {
		t.Errorf("factor = %v, want %v", got, want)
	}
}

func TestATableOfSizesSaysWhatShouldBeFlat(t *testing.T) {
	c := Config{Sizes: []int{10_000, 100_000, 1_000_000}, Rounds: 3}
	sections := c.tableSections(map[string][]Series{topics[0].name: {claimed, {Operation: "Claim", Side: endpoints.Floor, Rounds: claimed.Rounds}}})
	if len(sections) != len(topics) {
		t.Fatalf("%d sections", len(sections))
	}
	if got, want := strings.Join(sections[0].Table.Rows[0], "|"), "Claim|habeas|2.000|9.000|4.000|1.50|1.00–2.00"; got != want {
		t.Errorf("row = %q, want %q", got, want)
	}
	const want = "All of it should be flat. The cost to habeas at 1,000,000 by that at 10,000: Claim: 1.50."
	if got := sections[0].Notes[0]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASubjectsSectionsSayWhatShouldBeFlat(t *testing.T) {
	c := Config{Each: 3}
	sections := c.subjectSections([]Subject{
		{Rows: 100, Bytes: 1 << 20, Export: milli(1), Erase: milli(1), ExportPeak: 10 << 20},
		{Rows: 10_000, Bytes: 2 << 20, Export: milli(10, 20, 30), Erase: milli(10), ExportPeak: 20 << 20, ErasePeak: 20 << 20},
		{Rows: 100_000, Bytes: 9 << 20, Export: milli(300), Erase: milli(50), ExportPeak: 30 << 20, ErasePeak: 40 << 20},
	})
	for i, want := range []string{
		"At 100,000 rows by those at 10,000: export 1.50, erasure 0.50.",
		"Peaks at 100,000 rows by those at 10,000: export 1.50, erasure 2.00.",
	} {
		if !strings.Contains(sections[i].Notes[0], want) {
			t.Errorf("got %q, want %q", sections[i].Notes[0], want)
		}
	}
	for i, want := range []string{"10,000|20.00|2.0|10.00|1.0", "100|1.00|10.0|–"} {
		if got := strings.Join(sections[i].Table.Rows[1-i], "|"); got != want {
			t.Errorf("row = %q, want %q", got, want)
		}
	}
}

func TestEverySizeHasItsTurnInEachRound(t *testing.T) {
	var turns []int
	counts := operation{samples: 3, once: func(_ context.Context, w *world, _ int64) (time.Duration, error) {
		turns = append(turns, w.size)
		return 0, nil
	}}
	series := Series{Rounds: make([][]time.Duration, 2)}
	c := Config{Rounds: 2}
	if err := c.measure(t.Context(), counts, []*world{{size: 1}, {size: 2}}, series); err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 2}; !slices.Equal(turns, want) {
		t.Errorf("turns = %v, want %v", turns, want)
	}
	if len(series.Rounds[0]) != 2 || len(series.Rounds[1]) != 2 {
		t.Errorf("rounds = %v, want two of each and no warm-up", series.Rounds)
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
			if floor.side != endpoints.Floor || habeas.side != endpoints.Habeas || floor.name != habeas.name || floor.samples != habeas.samples {
				t.Errorf("%+v is beside %+v", habeas, floor)
			}
		}
	}
}

func TestAnOperationThatFailsEndsTheMeasurement(t *testing.T) {
	failure := errors.New("failure")
	fails := operation{samples: 1, once: func(context.Context, *world, int64) (time.Duration, error) { return 0, failure }}
	err := Config{}.measure(t.Context(), fails, []*world{{}}, Series{Rounds: make([][]time.Duration, 1)})
	if !errors.Is(err, failure) {
		t.Errorf("error = %v", err)
	}
}
