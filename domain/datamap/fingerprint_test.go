package datamap_test

import (
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// rehearsed is an erasure for a fingerprint.
type rehearsed struct {
	tables   []datamap.Table
	plan     datamap.Plan
	subject  domain.Subject
	steps    []datamap.RehearsedStep
	external []datamap.RehearsedExternal
	cascaded map[string]int64
}

func newRehearsed(t *testing.T) *rehearsed {
	t.Helper()
	id := fixture.MustID(t, "42")
	personal := func(strategy domain.Strategy) *datamap.Annotation {
		return &datamap.Annotation{Category: domain.CategoryContact, Strategy: strategy}
	}
	retained := personal(domain.StrategyRetain)
	retained.Reason, retained.Retain, retained.Since = "tax law", datamap.Period{Years: 10}, "joined"
	r := &rehearsed{
		subject: domain.Subject{ID: id, Refs: []domain.SubjectRef{{Kind: "desk", Value: "c-1"}}},
		tables: []datamap.Table{
			{
				Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
					{Name: "id", Type: datamap.TypeBigInt},
					{Name: "joined", Type: datamap.TypeTime},
					{Name: "left", Type: datamap.TypeTime},
					{Name: "email", Type: datamap.TypeText, Personal: personal(domain.StrategyAnonymize)},
					{Name: "vat", Type: datamap.TypeText, Personal: retained},
				},
			},
			{
				Name: "orders", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
					{Name: "id", Type: datamap.TypeBigInt}, {Name: "buyer"}, {Name: "payer"}, {Name: "kind", Type: datamap.TypeText},
				},
				Relations: []datamap.Relation{
					{Name: "Buyer", Columns: []string{"buyer"}, References: "users", ReferencedColumns: []string{"id"}, Path: true},
				},
			},
		},
	}
	r.plan, r.steps, r.external = rehearsedPlan()
	return r
}

func (r *rehearsed) fingerprint(t *testing.T) string {
	t.Helper()
	m := fixture.MustMap(t, r.tables...)
	return r.plan.Fingerprint(m, r.subject, r.steps, r.external, r.cascaded)
}

// Applications may store a fingerprint. The next version of this module must compute the same fingerprint.
func TestAFingerprintStaysTheSame(t *testing.T) {
	r := newRehearsed(t)
	const want = "8019ee292c49216a81013e16c8132dab"
	if got := r.fingerprint(t); got != want {
		t.Errorf("got %s", got)
	}
	for i := range r.steps {
		r.steps[i].At = time.Unix(1, 0) // the fingerprint does not depend on At
	}
	r.tables[0].Note, r.tables[0].Columns[3].Note = "people", "the login"
	r.tables[0].Columns[3].Personal.Purpose = "login"
	r.tables[0].Columns[2].NotPersonal = true
	if got := r.fingerprint(t); got != want {
		t.Errorf("with changes that no erasure sees: got %s", got)
	}
}

func TestAFingerprintChangesWithTheErasure(t *testing.T) {
	ofPlan := func(change func(*datamap.Step)) func(*rehearsed) {
		return func(r *rehearsed) { change(&r.plan.Steps[1]) }
	}
	ofColumn := func(change func(*datamap.Column)) func(*rehearsed) {
		return func(r *rehearsed) { change(&r.tables[0].Columns[3]) }
	}
	ofDuty := func(change func(*datamap.Annotation)) func(*rehearsed) {
		return func(r *rehearsed) { change(r.tables[0].Columns[4].Personal) }
	}
	other := fixture.MustID(t, "43")
	var seen []string
	for i, change := range []func(*rehearsed){
		func(*rehearsed) {},
		ofPlan(func(s *datamap.Step) { s.Target = "people" }),
		ofPlan(func(s *datamap.Step) { s.Via = "Owner" }),
		ofPlan(func(s *datamap.Step) { s.Strategy = domain.StrategyRetain }),
		ofPlan(func(s *datamap.Step) { s.Columns = []string{"email"} }),
		ofPlan(func(s *datamap.Step) { s.ClearedColumns = nil }),
		ofPlan(func(s *datamap.Step) { s.Expired = nil }),
		ofPlan(func(s *datamap.Step) { s.External = true }),
		func(r *rehearsed) { r.plan.Steps = r.plan.Steps[:2] },
		func(r *rehearsed) { r.steps[0].Rows++ },
		func(r *rehearsed) { r.steps[0], r.steps[1] = r.steps[1], r.steps[0] },
		func(r *rehearsed) { r.external[0].Entries++ },
		func(r *rehearsed) { r.external[0].Keys++ },
		func(r *rehearsed) { r.cascaded = map[string]int64{"logs": 1} },
		ofColumn(func(c *datamap.Column) { c.Personal.Strategy = domain.StrategyNull }),
		ofColumn(func(c *datamap.Column) { c.Surrogate = datamap.EmptySurrogate }),
		ofColumn(func(c *datamap.Column) { c.Surrogate = "{}@erased.invalid" }),
		ofColumn(func(c *datamap.Column) { c.Type = datamap.TypeUUID }),
		ofColumn(func(c *datamap.Column) { c.Length = 20 }),
		ofDuty(func(a *datamap.Annotation) { a.Retain = datamap.Period{Years: 6} }),
		ofDuty(func(a *datamap.Annotation) { a.Since = "left" }),
		func(r *rehearsed) { r.tables[1].Relations[0].Columns = []string{"payer"} },
		func(r *rehearsed) { r.tables[1].Relations[0].When = &datamap.Condition{Column: "kind", Value: "x"} },
		func(r *rehearsed) { r.subject.ID = other },
		func(r *rehearsed) { r.subject.Refs = nil },
		func(r *rehearsed) { r.subject.Refs[0].Value = "c-2" },
		func(r *rehearsed) { r.subject.Refs[0].Extra = map[string]string{"site": "de"} },
	} {
		r := newRehearsed(t)
		change(r)
		got := r.fingerprint(t)
		if slices.Contains(seen, got) {
			t.Errorf("change %d: the fingerprint %s also belongs to an earlier erasure", i, got)
		}
		if err := datamap.CheckFingerprint(got); err != nil {
			t.Errorf("change %d: %v", i, err)
		}
		seen = append(seen, got)
	}
}
