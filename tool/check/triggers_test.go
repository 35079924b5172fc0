package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// defined sets the statement that creates the trigger of users.
func defined(definition string) func(*world) {
	return func(w *world) { w.live("users").Triggers[0].Definition = definition }
}

var triggerCases = cases{
	"trigger-fires at an UPDATE": {trigger("users", "UPDATE"), []string{"trigger-fires users keep#fired"}},
	"trigger-fires at a DELETE":  {trigger("sessions", "DELETE"), []string{"trigger-fires sessions keep#fired"}},
	"trigger-fires at an UPDATE of the column": {
		both(trigger("users", "UPDATE"), defined("CREATE TRIGGER keep AFTER UPDATE OF email ON users EXECUTE FUNCTION f()")),
		[]string{"trigger-fires users keep#fired"},
	},
	"trigger-fires not at an UPDATE of other columns": {
		both(trigger("users", "UPDATE"), defined("CREATE TRIGGER keep AFTER UPDATE OF theme ON users EXECUTE FUNCTION f()")),
		nil,
	},
	"trigger-fires not at an INSERT":                  {trigger("users", "INSERT", "elsewhere"), nil},
	"trigger-fires not at a DELETE of rows that stay": {trigger("users", "DELETE"), nil},
	"trigger-fires of a table whose rows the database deletes": {
		func(w *world) {
			linked()(w)
			trigger("sessions_options", "DELETE")(w)
		}, []string{cascading, "trigger-fires sessions_options keep#fired"},
	},
	"trigger-writes to a table of the data map": {
		trigger("sessions", "DELETE", "users"),
		[]string{"trigger-fires sessions keep#fired", "trigger-writes users keep#fired"},
	},
	"trigger-writes not to another table": {
		both(outside("old", "email"), trigger("users", "UPDATE", "old")), []string{"trigger-fires users keep#fired"},
	},
	"trigger-deletes": {
		func(w *world) {
			trigger("sessions", "DELETE")(w)
			w.live("sessions").Triggers[0].Deletes = []string{"orders"}
		}, []string{"trigger-deletes orders keep#fired", "trigger-fires sessions keep#fired"},
	},
	"trigger-deletes not of another table": {
		func(w *world) {
			w.addTable("counts")
			trigger("sessions", "DELETE")(w)
			w.live("sessions").Triggers[0].Deletes = []string{"counts"}
		}, []string{"trigger-fires sessions keep#fired"},
	},
	"trigger-replaces": {
		func(w *world) { trigger("sessions", "DELETE")(w); w.live("sessions").Triggers[0].Instead = true },
		[]string{"trigger-replaces sessions keep#fired"},
	},
	"trigger-replaces not another statement": {
		func(w *world) { trigger("users", "DELETE")(w); w.live("users").Triggers[0].Instead = true }, nil,
	},
}

// A person accepts the code that a rehearsal has fired, and not the code that a trigger gets later.
func TestAnAcceptanceOfATriggerEndsWithItsCode(t *testing.T) {
	w := newWorld()
	trigger("users", "UPDATE")(w)
	w.live("users").Triggers[0].Code = "BEGIN NEW.updated_at := now(); RETURN NEW; END"
	found := w.findings(t)
	if len(found) != 1 || !strings.HasPrefix(found[0].Object, "keep#") || len(found[0].Object) != len("keep#1a2b3c4d") {
		t.Fatalf("got %v", found)
	}
	w.accepted = []datamap.Acceptance{{
		Rule: "trigger-fires", Table: "users", Object: found[0].Object, Reason: "rehearsed", Until: "2026-12-31",
	}}
	if found := w.findings(t); len(found) > 0 {
		t.Errorf("accepted: got %v", found)
	}
	w.live("users").Triggers[0].Code = "BEGIN INSERT INTO old SELECT OLD.*; RETURN NEW; END"
	found = w.findings(t)
	if len(found) != 2 || found[0].Code != "acceptance-unused" || found[1].Code != "trigger-fires" {
		t.Errorf("with other code: got %v", found)
	}
}

// The reason has what the catalog knows.
func TestAFindingAboutATriggerNamesWhereItWrites(t *testing.T) {
	w := newWorld()
	both(outside("old", "email"), trigger("users", "UPDATE", "old"))(w)
	w.live("users").Triggers[0].Unread = true
	for _, says := range []string{"writes to tables outside of the data map: old.", "does not show to which tables"} {
		if found := w.findings(t); !strings.Contains(found[0].Reason, says) {
			t.Errorf("got %v, want %q", found, says)
		}
	}
}
