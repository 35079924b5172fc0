package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// posted adds a table outside the data map with a column that refers to a user.
func posted(w *world) {
	w.addTable("letters", "body")
	w.refer("letters", "user_id", datamap.ActionNone)
}

// leftOut adds the question of a draft about a table.
func leftOut(table string, decided bool) func(*world) {
	return func(w *world) { w.leftOut = append(w.leftOut, datamap.LeftOut{Table: table, Decided: decided}) }
}

const questions = "questions-open users"

var questionCases = cases{
	"questions-open": {both(posted, leftOut("letters", false)), []string{questions}},
	"questions-open about a table without a foreign key": {
		func(w *world) {
			w.addTable("letters", "body")
			w.add("letters", "user_id", datamap.TypeBigInt)
			leftOut("letters", false)(w)
		}, []string{questions},
	},
	"questions-open about a table without a reference": {
		func(w *world) { w.addTable("letters", "phone"); leftOut("letters", false)(w) }, []string{questions},
	},
	"questions-open about a table that rows of users refer to": {
		func(w *world) {
			w.addTable("homes", "street")
			w.addToBoth("users", datamap.Column{Name: "home_id", Type: datamap.TypeBigInt})
			w.live("users").ForeignKeys = append(w.live("users").ForeignKeys, foreignKey("home_id", "homes", datamap.ActionNone))
			leftOut("homes", false)(w)
		}, []string{questions},
	},
	"questions-open about a reference to one of several tables": {
		func(w *world) {
			w.addTable("letters", "target_type")
			w.add("letters", "target_id", datamap.TypeBigInt)
			leftOut("letters", false)(w)
		}, []string{questions},
	},
	"questions-open about a column": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText, Note: "DECIDE: Is it personal?"})
		}, []string{questions},
	},
	"questions-open not about another column": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText, Note: "Its name suggests a number."})
		}, []string{"personal-unannotated users.phone"},
	},
	"questions-open not about another table": {
		both(posted, leftOut("lists", false)), []string{"table-unmapped letters.user_id"},
	},
	"questions-open not after an answer": {both(posted, leftOut("letters", true)), nil},
	"questions-open not about values that stay without their person": {
		func(w *world) {
			w.addTable("letters", "phone")
			w.add("letters", "session_id", datamap.TypeBigInt)
			w.live("letters").ForeignKeys = append(w.live("letters").ForeignKeys,
				foreignKey("session_id", "sessions", datamap.ActionSetNull))
			w.live("letters").Indexes = append(w.live("letters").Indexes, datamap.CatalogIndex{Columns: []string{"session_id"}})
			leftOut("letters", false)(w)
		}, []string{"table-unmapped letters.session_id"},
	},
	"questions-open not about who made a row": {both(made("boards"), leftOut("boards", false)), []string{makers}},
	"questions-open not about a copy of a table": {
		func(w *world) {
			w.addTable("users_backup", "email", "nick", "theme")
			leftOut("users_backup", false)(w)
		},
		[]string{"table-personal users_backup.email, nick"},
	},
	"questions-open not about documents of sessions": {
		func(w *world) {
			w.addTable("web_sessions")
			w.add("web_sessions", "data", datamap.TypeJSON)
			leftOut("web_sessions", false)(w)
		}, []string{"table-personal web_sessions.data"},
	},
	"questions-open not if it is accepted": {
		both(both(posted, leftOut("letters", false)), accepted("questions-open", "users", "")), nil,
	},
	"questions-open not if all parts are accepted": {
		both(both(posted, leftOut("letters", false)), accepted("table-unmapped", "letters", "user_id")), nil,
	},
	"table-referred not of a group": {
		func(w *world) {
			w.addTable("companies", "phone")
			w.addToBoth("users", datamap.Column{Name: "company_id", Type: datamap.TypeBigInt})
			w.live("users").ForeignKeys = append(w.live("users").ForeignKeys,
				foreignKey("company_id", "companies", datamap.ActionNone))
		}, nil,
	},
	"table-personal not of a group": {func(w *world) { w.addTable("organizations", "email", "phone") }, nil},
}

func TestAWarningNamesItsQuestions(t *testing.T) {
	w := newWorld()
	posted(w)
	w.addTable("calls", "phone", "email")
	both(leftOut("letters", false), leftOut("calls", false))(w)
	w.addToBoth("orders", datamap.Column{Name: "phone", Type: datamap.TypeText, Note: "DECIDE: Is it personal?"})
	found := w.findings(t)
	if len(found) != 1 || found[0].Severity != datamap.SeverityWarning {
		t.Fatalf("got %v", found)
	}
	for _, text := range []string{
		"2 tables outside of the data map that may belong to people: calls (phone, email), letters (user_id).",
		"columns that may hold personal data: orders.phone.",
	} {
		if !strings.Contains(found[0].Reason, text) {
			t.Errorf("%q does not say %q", found[0].Reason, text)
		}
	}
}
