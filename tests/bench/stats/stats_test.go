package stats

import (
	"slices"
	"testing"
	"time"
)

func TestAPercentileIsAValueThatWasMeasured(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, test := range []struct {
		sorted  []time.Duration
		percent float64
		want    time.Duration
	}{
		{nil, 99, 0},
		{hundred[:1], 50, 1},
		{hundred[:2], 50, 1},
		{hundred[:3], 50, 2},
		{hundred, 0, 1},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 99.5, 100},
		{hundred, 100, 100},
	} {
		if got := Percentile(test.sorted, test.percent); got != test.want {
			t.Errorf("percentile %v of %d values = %v, want %v", test.percent, len(test.sorted), got, test.want)
		}
	}
}

func TestTheMedianIsInTheMiddle(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 2, 100}, 3},
	} {
		before := slices.Clone(test.values)
		if got := Median(test.values); got != test.want {
			t.Errorf("median of %v = %v, want %v", test.values, got, test.want)
		}
		if !slices.Equal(test.values, before) {
			t.Errorf("the values were reordered: %v", test.values)
		}
	}
}

func TestASpreadHasItsEnds(t *testing.T) {
	if got, want := SpreadOf([]float64{1.2, 0.9, 1.0}), (Spread{Median: 1.0, Min: 0.9, Max: 1.2}); got != want {
		t.Errorf("spread = %v, want %v", got, want)
	}
	if got := SpreadOf(nil); got != (Spread{}) {
		t.Errorf("spread of nothing = %v", got)
	}
}

func TestRatiosGoPairByPair(t *testing.T) {
	got := Ratios([]float64{2, 9, 0, 4, 5}, []float64{1, 3, 1, 0})
	if want := []float64{2, 3}; !slices.Equal(got, want) {
		t.Errorf("ratios = %v, want %v", got, want)
	}
}
