package erasure_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

func TestRetentionWithAnEndIsJudgedByTheSteps(t *testing.T) {
	bounded := func(name string) datamap.Column {
		column := personal(name, keep)
		column.Personal.Retain, column.Personal.Since = datamap.Period{Years: 10}, "at"
		return column
	}
	at := datamap.Column{Name: "at", Type: datamap.TypeTime}
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		columns      []datamap.Column
		planned, now []datamap.Step
	}{
		"alone": {
			[]datamap.Column{bounded("a"), at},
			[]datamap.Step{{Target: "users", Strategy: keep, Columns: []string{"a"}, Expired: []string{"a"}}},
			[]datamap.Step{
				{Target: "users", Strategy: anon, Expired: []string{"a"}, At: now},
				{Target: "users", Strategy: keep, Columns: []string{"a"}, Expired: []string{"a"}, At: now},
			},
		},
		"next to others": {
			[]datamap.Column{personal("c", anon), bounded("a"), personal("b", keep), at},
			[]datamap.Step{
				{Target: "users", Strategy: anon, Columns: []string{"c"}},
				{Target: "users", Strategy: keep, Columns: []string{"a", "b"}, Expired: []string{"a"}},
			},
			[]datamap.Step{
				{Target: "users", Strategy: anon, Columns: []string{"c"}, Expired: []string{"a"}, At: now},
				{Target: "users", Strategy: keep, Columns: []string{"a", "b"}, Expired: []string{"a"}, At: now},
			},
		},
		"in a key": {
			[]datamap.Column{bounded("a"), at},
			[]datamap.Step{{Target: "users", Strategy: keep, Columns: []string{"a"}}},
			[]datamap.Step{{Target: "users", Strategy: keep, Columns: []string{"a"}}},
		},
	} {
		table := users(test.columns...)
		if name == "in a key" {
			table.PrimaryKey, table.SubjectKey = []string{"id", "a"}, []string{"id", "a"}
		}
		m := fixture.MustMap(t, table)
		planned, err := erasure.Planner{}.Plan(m, nil)
		if got := plan.LocalAt(planned, now); err != nil || !reflect.DeepEqual(got, test.now) {
			t.Errorf("%s: now %+v, %v", name, got, err)
		}
		if !reflect.DeepEqual(planned.Steps, test.planned) {
			t.Errorf("%s: the plan is %+v", name, planned.Steps)
		}
	}
}
