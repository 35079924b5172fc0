package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/tests/bench/stats"
)

// Rate writes a number of things per second, in whole ones and with its thousands apart: 12,345.
func Rate(perSecond float64) string {
	digits := strconv.FormatInt(int64(math.Round(perSecond)), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Milliseconds writes a latency.
func Milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond))
}

// Microseconds writes an amount of processor time, or a dash where it is not known.
func Microseconds(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return strconv.FormatInt(d.Round(time.Microsecond).Microseconds(), 10)
}

// Ratio writes a ratio, or a dash for none.
func Ratio(ratio float64) string {
	if ratio == 0 {
		return "–"
	}
	return strconv.FormatFloat(ratio, 'f', 2, 64)
}

// Spread writes the ends of a spread, or a dash for none.
func Spread(s stats.Spread) string {
	if s == (stats.Spread{}) {
		return "–"
	}
	return Ratio(s.Min) + "–" + Ratio(s.Max)
}
