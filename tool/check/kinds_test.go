package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// pinned adds a table to the data map whose rows an erasure deletes, with a relation by stem_id to a table. A text with
// the given name is beside it. There is no foreign key.
func pinned(parent, stem, kind string) func(*world) {
	return func(w *world) {
		table := datamap.Table{
			Name: "pins", PrimaryKey: []string{"id"}, Owned: true, Relations: []datamap.Relation{belongsTo(parent, stem+"_id")},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: stem + "_id", Type: datamap.TypeBigInt},
				{Name: kind, Type: datamap.TypeText},
			},
		}
		w.tables = append(w.tables, table)
		live := liveOf(table)
		live.ForeignKeys = nil
		w.catalog.Tables = append(w.catalog.Tables, live)
	}
}

// onlyOf adds a CHECK constraint on a column of the table pins.
func onlyOf(column, text string) func(*world) {
	return func(w *world) {
		live := w.live("pins")
		live.Checks = append(live.Checks, datamap.CatalogCheck{Columns: []string{column}, Text: text})
	}
}

// enumOf gives a column of the table pins an enum.
func enumOf(column string, labels ...string) func(*world) {
	return func(w *world) { w.column("pins", column).Values = labels }
}

var kindCases = cases{
	"condition-missing": {pinned("users", "owner", "owner_type"), []string{"condition-missing pins.owner_id"}},
	"condition-missing of a kind": {
		pinned("users", "sender", "sender_kind"), []string{"condition-missing pins.sender_id"},
	},
	"condition-missing of a class": {
		pinned("users", "owner", "ownerClass"), []string{"condition-missing pins.owner_id"},
	},
	"condition-missing of the name of a class": {
		pinned("users", "owner", "owner_class_name"), []string{"condition-missing pins.owner_id"},
	},
	"condition-missing of the name of a table": {
		pinned("users", "record", "table_name"), []string{"condition-missing pins.record_id"},
	},
	"condition-missing over a parent": {
		pinned("orders", "commentable", "commentable_type"), []string{"condition-missing pins.commentable_id"},
	},
	"condition-missing of a user of several kinds": {
		pinned("users", "user", "user_type"), []string{"condition-missing pins.user_id"},
	},
	"condition-missing of an enum": {
		both(outside("teams"), pinned("users", "owner", "owner_type"), enumOf("owner_type", "user", "team")),
		[]string{"condition-missing pins.owner_id"},
	},
	"condition-missing of classes in a CHECK constraint": {
		both(outside("admin_users"), pinned("users", "owner", "owner_type"), onlyOf("owner_type",
			`(owner_type = ANY (ARRAY['App\Models\User'::text, 'AdminUser'::text]))`)),
		[]string{"condition-missing pins.owner_id"},
	},
	"condition-missing if the CHECK constraint refuses only the empty text": {
		both(pinned("users", "owner", "owner_type"), onlyOf("owner_type", `(owner_type <> ''::text)`)),
		[]string{"condition-missing pins.owner_id"},
	},

	"condition-missing not with a condition": {
		func(w *world) {
			pinned("users", "owner", "owner_type")(w)
			w.table("pins").Relations[0].When = &datamap.Condition{Column: "owner_type", Value: "User"}
		}, nil,
	},
	"condition-missing not with a foreign key": {
		func(w *world) {
			pinned("users", "owner", "owner_type")(w)
			w.live("pins").ForeignKeys = []datamap.CatalogForeignKey{foreignKey("owner_id", "users", datamap.ActionNone)}
		}, nil,
	},
	"condition-missing not of the kind of a row":        {pinned("users", "owner", "type"), []string{noKey("owner")}},
	"condition-missing not of the type of another word": {pinned("users", "owner", "plan_type"), []string{noKey("owner")}},
	"condition-missing not of a name": {
		pinned("users", "owner", "owner_name"), []string{noKey("owner"), "personal-unannotated pins.owner_name"},
	},
	"condition-missing not of the kind of a thing": {
		both(withDevices, pinned("devices", "device", "device_type")), []string{noKey("device")},
	},
	"condition-missing not of the model of a thing": {
		both(withDevices, pinned("devices", "device", "device_model")), []string{noKey("device")},
	},
	"condition-missing not of one value": {
		both(pinned("users", "owner", "owner_type"), onlyOf("owner_type", `((owner_type)::text = 'User'::text)`)),
		[]string{noKey("owner")},
	},
	"condition-missing not of kinds of a user": {
		both(outside("teams"), pinned("users", "user", "user_type"), enumOf("user_type", "free", "paid", "team")),
		[]string{noKey("user")},
	},
	"condition-missing not of a sender without a table": {
		both(pinned("users", "sender", "sender_type"), onlyOf("sender_type", `sender_type IN ('user', 'system')`)),
		[]string{noKey("sender")},
	},
	"condition-missing not of kinds that an OR lists": {
		both(pinned("users", "owner", "owner_type"),
			onlyOf("owner_type", `((owner_type IS NULL) OR (owner_type = 'adult'::text) OR (owner_type = 'child'::text))`)),
		[]string{noKey("owner")},
	},
	"condition-missing not of rows that no erasure and no export reads": {
		func(w *world) { pinned("users", "owner", "owner_type")(w); w.table("pins").Owned = false }, nil,
	},
}

// noKey returns the finding about the missing foreign key of a table that pinned adds.
func noKey(stem string) string { return "foreign-key-missing pins." + stem + "_id" }

// withDevices adds a table of things of a user to the data map.
func withDevices(w *world) {
	table := datamap.Table{
		Name: "devices", PrimaryKey: []string{"id"}, Owned: true,
		Relations: []datamap.Relation{belongsTo("users", "user_id")},
		Columns:   []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "user_id", Type: datamap.TypeBigInt}},
	}
	w.tables, w.catalog.Tables = append(w.tables, table), append(w.catalog.Tables, liveOf(table))
}

// The finding is a warning if a text may also tell the kind of a person. The remedy has the words of the data map.
func TestAMissingConditionIsAnErrorUnlessTheKindMayBeThatOfAPerson(t *testing.T) {
	for stem, want := range map[string]datamap.Severity{
		"owner": datamap.SeverityError, "subject": datamap.SeverityError, "commentable": datamap.SeverityError,
		"sender": datamap.SeverityWarning, "payer": datamap.SeverityWarning,
		"user": datamap.SeverityWarning, "customer": datamap.SeverityWarning,
	} {
		w := newWorld()
		pinned("users", stem, stem+"_type")(w)
		found := w.findings(t)
		if len(found) != 1 || found[0].Severity != want || !strings.Contains(found[0].Remedy, "(when:)") {
			t.Errorf("%s: got %v", stem, found)
		}
	}
}

// A relation that lint proposes needs a condition, too, if another column names the table.
func TestTheRemedyOfAMissingRelationHasItsCondition(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world)
		want   bool
	}{
		"outside":                {both(outside("letters"), oneOfColumns("letters", "owner")), true},
		"outside, of a subject":  {both(outside("letters"), oneOfColumns("letters", "subject")), true},
		"outside, of a customer": {both(outside("letters"), oneOfColumns("letters", "customer")), true},
		"outside, of one table":  {typedOutside("letters", "owner_id", datamap.TypeBigInt), false},
		"inside":                 {oneOfColumns("orders", "sender"), true},
		"inside, of one table":   {func(w *world) { w.add("orders", "sender_id", datamap.TypeBigInt) }, false},
	} {
		w := newWorld()
		test.change(w)
		found := w.findings(t)
		if len(found) != 1 || strings.Contains(found[0].Remedy, "a condition (when:)") != test.want {
			t.Errorf("%s: got %v", name, found)
		}
	}
}
