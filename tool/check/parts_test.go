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

// noted gives a column of the data map a note, or a table if column is empty.
func noted(table, column, note string) func(*world) {
	return func(w *world) {
		if column == "" {
			w.table(table).Note = note
			return
		}
		w.field(table, column).Note = note
	}
}

// asked adds a reference to a second person to the data map, with a note.
func asked(note string) func(*world) {
	return func(w *world) {
		w.addToBoth("orders", datamap.Column{Name: "act_user_id", Type: datamap.TypeBigInt, Note: note})
	}
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
		both(stranded, leftOut("letters", false)), []string{"table-unmapped letters.session_id"},
	},
	"questions-open not about such values after an answer": {both(stranded, leftOut("letters", true)), nil},
	"questions-open about who made a row": {
		both(made("boards"), leftOut("boards", false)), []string{questions},
	},
	"questions-open not about who made a row after an answer": {both(made("boards"), leftOut("boards", true)), nil},
	"questions-open about a table without other findings": {
		both(outside("teams", "slug"), leftOut("teams", false)), []string{questions},
	},
	"questions-open not about a table without other findings after an answer": {
		both(outside("teams", "slug"), leftOut("teams", true)), nil,
	},
	"questions-open not about a table that the database lacks": {leftOut("teams", false), nil},
	"questions-open about rows of the data map": {
		noted("orders", "", "Of users. DECIDE: Whose?"), []string{questions},
	},
	"questions-open about an annotated column": {
		noted("users", "nick", "DECIDE: May it be NULL?"), []string{questions},
	},
	"questions-open about a plain column": {
		noted("users", "theme", "DECIDE: Is it personal?"), []string{questions},
	},
	"questions-open about a reference that is no path": {asked("DECIDE: Is it that person's, too?"), []string{questions}},
	"questions-open not about a reference without a question": {
		asked("It has no foreign key."), []string{"path-missing orders.act_user_id"},
	},
	"questions-open not about a reference that is accepted": {
		both(asked("DECIDE: Is it that person's, too?"), accepted("path-missing", "orders", "act_user_id")), nil,
	},
	"questions-open not about rows after an answer":     {noted("orders", "", "DECIDED: Whose?"), nil},
	"questions-open not about a column after an answer": {noted("users", "nick", "DECIDED: May it be NULL?"), nil},
	"questions-open not about a personal name after an answer": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText, Note: "DECIDED: Is it personal?"})
		}, nil,
	},
	"questions-open not about a column if its finding is accepted": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText, Note: "DECIDE: Is it personal?"})
			accepted("personal-unannotated", "users", "phone")(w)
		}, nil,
	},
	"questions-open beside a list of people": {
		both(posted, listed("letters", "reader_ids", "bigint[]"), leftOut("letters", false)),
		[]string{questions, "table-unlinked letters.reader_ids"},
	},
	"questions-open not about a list of people after an answer": {
		both(posted, listed("letters", "reader_ids", "bigint[]"), leftOut("letters", true)), nil,
	},
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
	both(leftOut("letters", false), leftOut("calls", false), noted("users", "nick", "DECIDE: May it be NULL?"))(w)
	noted("orders", "", "DECIDE: Does the whole row belong to the person?")(w)
	w.addToBoth("orders", datamap.Column{Name: "phone", Type: datamap.TypeText, Note: "DECIDE: Is it personal?"})
	found := w.findings(t)
	if len(found) != 1 || found[0].Severity != datamap.SeverityWarning {
		t.Fatalf("got %v", found)
	}
	for _, text := range []string{
		"2 tables outside of the data map that may belong to people: calls (phone, email), letters (user_id).",
		"columns that may hold personal data: orders.phone.",
		"rows and columns of the data map: orders, users.nick.",
	} {
		if !strings.Contains(found[0].Reason, text) {
			t.Errorf("%q does not say %q", found[0].Reason, text)
		}
	}
}

// stranded adds a table outside the data map with personal data, whose reference to a row that an erasure deletes the
// database clears.
func stranded(w *world) {
	w.addTable("letters", "phone")
	w.add("letters", "session_id", datamap.TypeBigInt)
	letters := w.live("letters")
	letters.ForeignKeys = append(letters.ForeignKeys, foreignKey("session_id", "sessions", datamap.ActionSetNull))
	letters.Indexes = append(letters.Indexes, datamap.CatalogIndex{Columns: []string{"session_id"}})
}
