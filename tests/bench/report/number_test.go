package report

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/tests/bench/stats"
)

func TestNumbersAreWrittenForPeople(t *testing.T) {
	for got, want := range map[string]string{
		Rate(0):                               "0",
		Rate(999.4):                           "999",
		Rate(999.6):                           "1,000",
		Rate(1234567):                         "1,234,567",
		Milliseconds(1234 * time.Microsecond): "1.23",
		Microseconds(1600 * time.Nanosecond):  "2",
		Microseconds(0):                       "–",
		Ratio(1.005):                          "1.00",
		Ratio(0):                              "–",
		Spread(stats.Spread{Median: 1, Min: 0.9, Max: 1.2}): "0.90–1.20",
		Spread(stats.Spread{}):                              "–",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
