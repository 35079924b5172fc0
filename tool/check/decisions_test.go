package check_test

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check"
)

// asked adds a table outside the data map with an address, and a question about it with two options: to delete its
// rows, and to leave it out.
func asked(answer, because string, seen ...string) func(*world) {
	return func(w *world) {
		w.addTable("leads", "email")
		w.refer("leads", "user_id", datamap.ActionNone)
		w.undecided = true
		w.field("users", "theme").NotPersonal = true
		leads := datamap.Table{
			Name: "leads", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "user_id")},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "email", Type: datamap.TypeText, Personal: personal(erase)},
				{Name: "user_id", Type: datamap.TypeBigInt},
			}, Owned: true,
		}
		w.decisions = append(w.decisions, datamap.Decision{
			Object: "leads", Question: "Whose rows are these?", Seen: seen, Answer: answer, Because: because,
			Options: []datamap.Option{
				{Name: "delete", Edit: datamap.Edit{Tables: []datamap.Table{leads}}}, {Name: "not-about-people"},
			},
		})
	}
}

// taken adds the table of the question to the data map, as the answer delete does.
func taken(w *world) {
	decision := w.decisions[0]
	leads := decision.Options[0].Edit.Tables[0]
	leads.Columns = slices.Clone(leads.Columns)
	w.tables = append(w.tables, leads)
}

var seenLeads = []string{"id", "email", "user_id", "user_id -> users"}

var decisionCases = cases{
	"decision-open": {asked("", "", seenLeads...), []string{"decision-open leads"}},
	"decision-open about a schema": {
		func(w *world) {
			w.undecided = true
			w.field("users", "theme").NotPersonal = true
			w.addTable("leads", "email")
			w.live("leads").Schema = "legacy"
			w.decisions = []datamap.Decision{{
				Object: "legacy.*", Question: "Whose?", Seen: []string{"leads"}, Options: []datamap.Option{{Name: "elsewhere"}},
			}}
		},
		[]string{"decision-open legacy.*"},
	},
	"decision-open not about a schema that is gone": {
		func(w *world) {
			w.undecided = true
			w.field("users", "theme").NotPersonal = true
			w.decisions = []datamap.Decision{{
				Object: "legacy.*", Question: "Whose?", Options: []datamap.Option{{Name: "elsewhere"}},
			}}
		},
		nil,
	},
	"decision-contradicted by a reference that is kept": {
		func(w *world) {
			both(asked("delete", "", seenLeads...), taken)(w)
			edited := w.decisions[0].Options[0].Edit.Tables
			edited[0].Relations = []datamap.Relation{belongsTo("users", "user_id")}
			edited[0].Relations[0].Path, edited[0].Relations[0].OnErasure = true, domain.StrategyDelete
		}, []string{"decision-contradicted leads"},
	},
	"decision-open not after an answer": {asked("not-about-people", "only companies", seenLeads...), nil},
	"decision-unreasoned": {
		asked("not-about-people", " ", seenLeads...), []string{"decision-unreasoned leads"},
	},
	"decision-unreasoned of a table that leads to people": {
		func(w *world) {
			asked("not-about-people", "", "id", "count", "user_id", "user_id -> users")(w)
			w.column("leads", "email").Name = "count"
		},
		[]string{"decision-unreasoned leads"},
	},
	"decision-unreasoned not of numbers": {
		func(w *world) {
			asked("not-about-people", "", "id", "count")(w)
			w.column("leads", "email").Name = "count"
			w.drop("leads", "user_id")
			w.live("leads").ForeignKeys = nil
		},
		nil,
	},
	"decision-changed by a column": {
		asked("not-about-people", "only companies", "id", "user_id", "user_id -> users"),
		[]string{"decision-changed leads.email"},
	},
	"decision-changed by a reference": {
		asked("not-about-people", "only companies", "id", "user_id", "email"),
		[]string{"decision-changed leads.user_id -> users"},
	},
	"decision-changed not without new columns": {asked("not-about-people", "only companies", seenLeads...), nil},
	"decision-contradicted by a table that is missing": {
		asked("delete", "", seenLeads...), []string{"decision-contradicted leads"},
	},
	"decision-contradicted by a table that is there": {
		both(asked("not-about-people", "only companies", seenLeads...), taken), []string{"decision-contradicted leads"},
	},
	"decision-contradicted by rows that stay": {
		func(w *world) {
			both(asked("delete", "", seenLeads...), taken)(w)
			w.table("leads").Owned = false
			w.tables[3].Columns[1].Personal = personal(anonymize)
		}, []string{"decision-contradicted leads"},
	},
	"decision-contradicted not by what the answer says": {both(asked("delete", "", seenLeads...), taken), nil},
}

// A check ends with what is left out, so that nobody takes no findings for no people.
func TestAResultHasWhatIsLeftOut(t *testing.T) {
	w := newWorld()
	asked("not-about-people", "only companies", seenLeads...)(w)
	w.addTable("logs", "line").Schema = "legacy"
	w.decisions = append(w.decisions, datamap.Decision{Object: "legacy.*", Answer: "elsewhere", Because: "read only"})
	result, err := w.check(t.Context(), t)
	must(t, err)
	want := []check.LeftOut{
		{Table: "leads", Answer: "not-about-people", Because: "only companies", LeadsToPeople: true},
		{Table: "logs", Answer: "elsewhere", Because: "read only"},
	}
	if len(result.Findings) > 0 || len(result.LeftOut) != 2 || result.LeftOut[0] != want[0] ||
		result.LeftOut[1] != want[1] {
		t.Errorf("got %+v, want %+v", result, want)
	}
	dataMap, err := datamap.NewDataMap(w.tables...)
	must(t, err)
	out, err := check.LeftOutOf(t.Context(), w.reader(t), dataMap.WithDecisions(w.decisions...))
	must(t, err)
	if len(out) != 2 || out[0] != want[0] {
		t.Errorf("got %+v", out)
	}
}
