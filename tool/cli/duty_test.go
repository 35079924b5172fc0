package cli

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestACellIsKeptUntilItsDutyEnds(t *testing.T) {
	column := datamap.Column{Personal: &datamap.Annotation{Retain: datamap.Period{Years: 10}, Since: "issued_at"}}
	end, ok := endOfDuty(column, "2024-02-29 23:59:59+00")
	if !ok || end.Format("2006-01-02") != "2034-03-01" {
		t.Errorf("kept until %v, %v", end, ok)
	}
	for _, since := range []string{"", "soon, maybe"} {
		if _, ok := endOfDuty(column, since); ok {
			t.Errorf("a duty without a begin ends")
		}
	}
}
