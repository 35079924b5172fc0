package datamap_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// rehearsedPlan returns a plan with a delete step, an anonymize step and an external step, and its counts.
func rehearsedPlan() (plan datamap.Plan, steps []datamap.RehearsedStep, external []datamap.RehearsedExternal) {
	plan.Steps = []datamap.Step{
		{Target: "orders", Strategy: domain.StrategyDelete},
		{
			Target: "users", Strategy: domain.StrategyAnonymize, Columns: []string{"email", "vat"},
			ClearedColumns: []string{"partner"},
			Expired:        []string{"vat"},
		},
		{Target: "desk", Strategy: domain.StrategyDelete, External: true},
	}
	steps = []datamap.RehearsedStep{{Step: plan.Steps[0], Rows: 3}, {Step: plan.Steps[1], Rows: 1}}
	return plan, steps, []datamap.RehearsedExternal{{Resolver: "desk", Entries: 1, Keys: 40}}
}

func TestTheJSONNamesOfARehearsalStay(t *testing.T) {
	id := fixture.MustID(t, "42")
	_, steps, external := rehearsedPlan()
	fixture.WantJSON(t, datamap.Rehearsal{
		SubjectID: id, RehearsedAt: time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC), Steps: steps[:1], External: external,
		Fingerprint: "f",
	}, `{
		"subject_id": "42", "rehearsed_at": "2024-03-01T12:00:00Z",
		"steps": [{"target": "orders", "strategy": "delete", "rows": 3}],
		"external": [{"resolver": "desk", "entries": 1, "keys": 40}],
		"fingerprint": "f"
	}`)
	fixture.WantJSON(t, datamap.Refusal{
		Class: "conflict", Target: "orders", Via: "Buyer", Strategy: domain.StrategyDelete, Message: "table parcels",
	}, `{"class": "conflict", "target": "orders", "via": "Buyer", "strategy": "delete", "message": "table parcels"}`)
}
