package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// undecided takes the decisions about tables outside the data map away.
func undecided(w *world) { w.undecided = true }

// drafted makes the data map one of a draft, in which each column needs a decision. A person has seen these columns of
// users.
func drafted(seen ...string) func(*world) {
	return func(w *world) {
		for _, table := range w.tables {
			for i, column := range table.Columns {
				table.Columns[i].NotPersonal = column.Personal == nil
			}
		}
		users := *w.table("users")
		w.decisions = append(w.decisions, datamap.Decision{
			Object: "users", Question: "Does the row go?", Seen: append(seen, "id", "email", "nick", "theme"), Answer: "keep",
			Options: []datamap.Option{{Name: "keep", Edit: datamap.Edit{Tables: []datamap.Table{users}}}},
		})
	}
}

var undecidedCases = cases{
	"table-undecided by a foreign key": {
		both(letters(datamap.ActionNone), undecided), []string{"table-undecided letters"},
	},
	"table-undecided by a column that could hold a key": {
		both(func(w *world) { w.addTable("letters"); w.add("letters", "notifiable_id", datamap.TypeBigInt) }, undecided),
		[]string{"table-undecided letters"},
	},
	"table-undecided by a text": {both(outside("letters", "body"), undecided), []string{"table-undecided letters"}},
	"table-undecided of another server": {
		both(both(outside("letters", "body"), undecided), func(w *world) { w.live("letters").Kind = datamap.KindForeign }),
		[]string{"table-undecided letters"},
	},
	"table-undecided not of numbers": {
		both(func(w *world) { w.addTable("days"); w.add("days", "hits", datamap.TypeNumber) }, undecided), nil,
	},
	"table-undecided not of a view": {
		both(both(outside("letters", "body"), undecided), func(w *world) { w.live("letters").Kind = datamap.KindView }), nil,
	},
	"table-undecided not of an heir": {
		both(func(w *world) { w.addTable("admins", "email").Inherits = []string{"users"} }, undecided), nil,
	},
	"column-undecided": {
		both(drafted(), func(w *world) { w.add("users", "shade", datamap.TypeText) }),
		[]string{"column-undecided users.shade"},
	},
	"column-undecided of a key": {
		both(drafted(), func(w *world) { w.add("users", "shared_by_id", datamap.TypeBigInt) }),
		[]string{"column-undecided users.shared_by_id keys"},
	},
	"column-undecided not if a person saw it": {
		both(drafted("shade"), func(w *world) { w.add("users", "shade", datamap.TypeText) }), nil,
	},
	"column-undecided not of struct tags": {func(w *world) { w.add("users", "shade", datamap.TypeText) }, nil},
	"column-undecided not of a generated column": {
		both(drafted(), func(w *world) {
			w.add("users", "upper", datamap.TypeText)
			w.column("users", "upper").Generated = true
		}), nil,
	},
	"personal-unannotated": {
		func(w *world) { w.add("users", "phone", datamap.TypeText) }, []string{"personal-unannotated users.phone"},
	},
	"personal-unannotated of rows that go": {
		func(w *world) { w.addToBoth("sessions", datamap.Column{Name: "ip", Type: datamap.TypeText}) },
		[]string{"personal-unannotated sessions.ip"},
	},
	"personal-unannotated not if it says so": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText, NotPersonal: true})
		}, nil,
	},
	"personal-unannotated not of a choice": {
		func(w *world) {
			w.add("orders", "gender", datamap.TypeText)
			w.column("orders", "gender").Values = []string{"none"}
		}, nil,
	},
	"personal-key": {
		func(w *world) {
			for _, columns := range [][]datamap.Column{w.table("orders").Columns} {
				columns[0].Name, columns[0].Type = "email", datamap.TypeText
			}
			w.table("orders").PrimaryKey = []string{"email"}
			*w.live("orders") = liveOf(*w.table("orders"))
		}, []string{"personal-key orders.email"},
	},
	"personal-key not of a number": {func(*world) {}, nil},
}

// The reason has the facts, so that a person can decide without the schema at hand.
func TestAFindingAboutATableSaysWhatLeadsToPeople(t *testing.T) {
	w := newWorld()
	w.undecided = true
	w.addTable("letters", "email")
	w.refer("letters", "user_id", datamap.ActionNone)
	w.add("letters", "notifiable_id", datamap.TypeBigInt)
	found := w.findings(t)
	if len(found) != 1 {
		t.Fatalf("got %v", found)
	}
	for _, says := range []string{"user_id (users)", "a person's key: notifiable_id.", "like personal data: email."} {
		if !strings.Contains(found[0].Reason, says) {
			t.Errorf("got %q, want %q", found[0].Reason, says)
		}
	}
}
