// Package stats reduces what was measured to the few numbers that are shown.
package stats

import (
	"math"
	"slices"
)

// Number is what can be measured.
type Number interface{ ~int64 | ~float64 }

// Percentile returns the smallest of the sorted values that so many per cent of them do not exceed, or 0 of none.
func Percentile[N Number](sorted []N, percent float64) N {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(percent / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Median returns the middle of the values, the mean of both middles if need be, or 0 of none.
func Median[N Number](values []N) N {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Spread is how a number came out in repeated measurements. The zero value stands for none.
type Spread struct{ Median, Min, Max float64 }

// SpreadOf returns the spread of the values.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	return Spread{Median(values), slices.Min(values), slices.Max(values)}
}

// Ratios returns each numerator divided by the denominator at the same place. A pair that lacks either is left out.
func Ratios(numerators, denominators []float64) []float64 {
	var ratios []float64
	for i := range min(len(numerators), len(denominators)) {
		if numerators[i] > 0 && denominators[i] > 0 {
			ratios = append(ratios, numerators[i]/denominators[i])
		}
	}
	return ratios
}
