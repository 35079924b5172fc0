// Package results stores measurements in the Go benchmark format. Tools such as benchstat read this format.
package results

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// Set contains the results of a run in the order of measurement.
type Set []*benchfmt.Result

// Add appends a result with the given name, to which it adds alternating keys and values. For example, Add("Erase", 9,
// values, "side", "floor") adds the result BenchmarkErase/side=floor.
func (s *Set) Add(name string, iterations int, values []benchfmt.Value, keys ...any) {
	for i := 0; i < len(keys); i += 2 {
		name += fmt.Sprintf("/%v=%v", keys[i], strings.ReplaceAll(fmt.Sprint(keys[i+1]), " ", "_"))
	}
	*s = append(*s, &benchfmt.Result{Name: benchfmt.Name(name), Iters: iterations, Values: values})
}

// Value returns a number with a unit.
func Value(number float64, unit string) benchfmt.Value {
	return benchfmt.Value{Value: number, Unit: unit}
}

// Seconds returns a duration in seconds as a value. The name of the unit must contain "sec", as in "p50-sec".
func Seconds(d time.Duration, unit string) benchfmt.Value { return Value(d.Seconds(), unit) }

// Known returns the values that are not zero. Zero means that a value is unknown.
func Known(values ...benchfmt.Value) []benchfmt.Value {
	return slices.DeleteFunc(values, func(v benchfmt.Value) bool { return v.Value == 0 })
}

// Of returns the results of a benchmark.
func (s Set) Of(name string) Set {
	return s.where(func(r *benchfmt.Result) bool {
		base, _ := r.Name.Parts()
		return string(base) == name
	})
}

// With returns the results in which the key has the given value.
func (s Set) With(key string, value any) Set {
	return s.where(func(r *benchfmt.Result) bool { return Key(r, key) == fmt.Sprint(value) })
}

func (s Set) where(matches func(*benchfmt.Result) bool) (found Set) {
	for _, r := range s {
		if matches(r) {
			found = append(found, r)
		}
	}
	return found
}

// Keys returns the distinct values of a key, in the order of their first appearance.
func (s Set) Keys(key string) (values []string) {
	for _, r := range s {
		if value := Key(r, key); value != "" && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// Key returns the value of a key in a result, or "" if the result does not have the key.
func Key(r *benchfmt.Result, key string) string {
	_, parts := r.Name.Parts()
	for _, part := range parts {
		if value, ok := strings.CutPrefix(string(part), "/"+key+"="); ok {
			return value
		}
	}
	return ""
}

// Median returns the median of all values with the given unit, or 0 if there are none.
func (s Set) Median(unit string) float64 { return Median(s.values(unit)) }

// Ratio divides each value of s by the value of denominators with the same index. It returns the median of these
// ratios, or 0 if there are none.
func (s Set) Ratio(denominators Set, unit string) float64 {
	ratios, below := s.values(unit), denominators.values(unit)
	ratios = ratios[:min(len(ratios), len(below))]
	for i := range ratios {
		ratios[i] /= below[i]
	}
	return Median(ratios)
}

func (s Set) values(unit string) (values []float64) {
	for _, r := range s {
		if value, ok := r.Value(unit); ok {
			values = append(values, value)
		}
	}
	return values
}

// Number is the type of a measured value.
type Number interface{ ~int64 | ~float64 }

// Median returns the median of the values, or 0 if there are none.
func Median[N Number](values []N) N {
	if len(values) == 0 {
		return 0
	}
	numbers := make([]float64, len(values))
	for i, value := range values {
		numbers[i] = float64(value)
	}
	sample := benchmath.NewSample(numbers, &benchmath.DefaultThresholds)
	return N(benchmath.AssumeNothing.Summary(sample, Confidence).Center)
}

// Confidence is the confidence level of the intervals that benchstat shows. Five runs are enough for this level.
const Confidence = 0.9

// Write writes all results in the benchmark format.
func (s Set) Write(w io.Writer) error {
	if _, err := io.WriteString(w, "Unit req/s better=higher\nUnit entries/s better=higher\n"); err != nil {
		return err
	}
	writer := benchfmt.NewWriter(w)
	for _, r := range s {
		if err := writer.Write(r); err != nil {
			return err
		}
	}
	return nil
}
