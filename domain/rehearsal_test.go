package domain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/fixture"
)

// rehearsedPlan returns a plan with a delete step, an anonymize step and an external step, and its counts.
func rehearsedPlan() (plan domain.Plan, steps []domain.RehearsedStep, external []domain.RehearsedExternal) {
	plan.Steps = []domain.Step{
		{Target: "orders", Strategy: domain.StrategyDelete, Via: "Buyer"},
		{
			Target: "users", Strategy: domain.StrategyAnonymize, Columns: []string{"email"}, Clears: []string{"partner"},
			Expired: []string{"vat"},
		},
		{Target: "desk", Strategy: domain.StrategyDelete, External: true},
	}
	steps = []domain.RehearsedStep{{plan.Steps[0], 3}, {plan.Steps[1], 1}}
	return plan, steps, []domain.RehearsedExternal{{Resolver: "desk", Entries: 1, Keys: 40}}
}

// Applications may store a fingerprint. The next version of this module must compute the same fingerprint.
func TestAFingerprintStaysTheSame(t *testing.T) {
	plan, steps, external := rehearsedPlan()
	if got := plan.Fingerprint(steps, external); got != "3904d1994f02c92d552aef69dc033af6" {
		t.Errorf("got %s", got)
	}
	for i := range steps {
		steps[i].At = time.Unix(1, 0) // the fingerprint does not depend on At
	}
	if got := plan.Fingerprint(steps, external); got != "3904d1994f02c92d552aef69dc033af6" {
		t.Errorf("at an instant: got %s", got)
	}
}

func TestAFingerprintChangesWithThePlanAndTheCounts(t *testing.T) {
	type (
		steps    = []domain.RehearsedStep
		external = []domain.RehearsedExternal
		change   func(*domain.Plan, steps, external)
	)
	ofPlan := func(change func(*domain.Step)) change {
		return func(plan *domain.Plan, _ steps, _ external) { change(&plan.Steps[1]) }
	}
	var seen []string
	for i, change := range []change{
		func(*domain.Plan, steps, external) {},
		ofPlan(func(s *domain.Step) { s.Target = "people" }),
		ofPlan(func(s *domain.Step) { s.Via = "Owner" }),
		ofPlan(func(s *domain.Step) { s.Strategy = domain.StrategyRetain }),
		ofPlan(func(s *domain.Step) { s.Columns = []string{"email", "name"} }),
		ofPlan(func(s *domain.Step) { s.Clears = nil }),
		ofPlan(func(s *domain.Step) { s.Expired = nil }),
		ofPlan(func(s *domain.Step) { s.External = true }),
		func(plan *domain.Plan, _ steps, _ external) { plan.Steps = plan.Steps[:2] },
		func(_ *domain.Plan, s steps, _ external) { s[0].Rows++ },
		func(_ *domain.Plan, s steps, _ external) { s[0], s[1] = s[1], s[0] },
		func(_ *domain.Plan, _ steps, e external) { e[0].Entries++ },
		func(_ *domain.Plan, _ steps, e external) { e[0].Keys++ },
	} {
		plan, steps, external := rehearsedPlan()
		change(&plan, steps, external)
		got := plan.Fingerprint(steps, external)
		if slices.Contains(seen, got) {
			t.Errorf("change %d: the fingerprint %s also belongs to an earlier plan", i, got)
		}
		if err := domain.CheckFingerprint(got); err != nil {
			t.Errorf("change %d: %v", i, err)
		}
		seen = append(seen, got)
	}
}

func TestTheJSONNamesOfARehearsalStay(t *testing.T) {
	id, err := domain.NewSubjectID("42")
	if err != nil {
		t.Fatal(err)
	}
	_, steps, external := rehearsedPlan()
	fixture.WantJSON(t, domain.Rehearsal{
		SubjectID: id, RehearsedAt: time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC), Steps: steps[:1], External: external,
		Fingerprint: "f",
	}, `{
		"subject_id": "42", "rehearsed_at": "2024-03-01T12:00:00Z",
		"steps": [{"target": "orders", "strategy": "delete", "via": "Buyer", "rows": 3}],
		"external": [{"resolver": "desk", "entries": 1, "keys": 40}],
		"fingerprint": "f"
	}`)
	fixture.WantJSON(t, domain.Refusal{
		Class: "conflict", Target: "orders", Via: "Buyer", Strategy: domain.StrategyDelete, Message: "table parcels",
	}, `{"class": "conflict", "target": "orders", "via": "Buyer", "strategy": "delete", "message": "table parcels"}`)
}
