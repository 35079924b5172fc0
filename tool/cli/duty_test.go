package cli

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestACellIsKeptUntilItsDutyEnds(t *testing.T) {
	duty := datamap.Duty{Period: datamap.Period{Years: 10}, Zone: time.UTC}
	for since, want := range map[string]string{
		"2024-02-29 23:59:59+00": "2034-03-01", "2024-02-28 23:59:59.5-02": "2034-03-01", "2024-12-31": "2034-12-31",
		"1700000000": "2033-11-14",
	} {
		if end, ok := endOfDuty(duty, since); !ok || end.Format(time.DateOnly) != want {
			t.Errorf("%s: kept until %v, %v", since, end, ok)
		}
	}
	for _, since := range []string{"", "soon, maybe", "infinity", "9999-12-31", "2024-02-30"} {
		if end, ok := endOfDuty(duty, since); ok {
			t.Errorf("%s: a duty without a known end ends at %v", since, end)
		}
	}
}
