package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// linked adds a table outside the data map that connects sessions, which an erasure deletes, with rows of options. The
// database deletes it with the sessions. It has no key, and further columns of texts.
func linked(columns ...string) func(*world) {
	return func(w *world) {
		w.addTable("options")
		w.addTable("sessions_options", columns...)
		for _, parent := range []string{"session", "option"} {
			w.add("sessions_options", parent+"_id", datamap.TypeBigInt)
			live := w.live("sessions_options")
			live.ForeignKeys = append(live.ForeignKeys, foreignKey(parent+"_id", parent+"s", datamap.ActionCascade))
			live.Indexes = append(live.Indexes, datamap.CatalogIndex{Columns: []string{parent + "_id"}})
		}
		w.drop("sessions_options", "id")
		w.live("sessions_options").PrimaryKey = nil
	}
}

const cascading = "delete-cascades sessions_options.session_id session_id_fkey"

var linkCases = cases{
	"delete-cascades of a pure link":             {linked(), []string{cascading}},
	"delete-cascades not of a decided pure link": {both(linked(), leftOut("sessions_options", true)), nil},
	"delete-cascades of an undecided pure link": {
		both(linked(), leftOut("sessions_options", false)), []string{cascading},
	},
	"delete-cascades of a decided link with a text": {
		both(linked("body"), leftOut("sessions_options", true)), []string{cascading},
	},
	"delete-cascades of a decided link with a new column": {
		both(linked("body"), settled("sessions_options", "session_id", "option_id")),
		[]string{cascading, "left-out-changed sessions_options.body"},
	},
	"delete-cascades of a decided link by an address": {
		func(w *world) {
			both(linked("email"), leftOut("sessions_options", true))(w)
			w.live("sessions_options").ForeignKeys = append(w.live("sessions_options").ForeignKeys,
				datamap.CatalogForeignKey{Columns: []string{"email"}, References: "options", Referenced: []string{"id"}})
		}, []string{cascading},
	},
	"delete-cascades not of a decided pure link to a person": {
		func(w *world) {
			both(linked(), leftOut("sessions_options", true))(w)
			w.refer("sessions_options", "user_id", datamap.ActionCascade)
		}, nil,
	},
	"delete-cascades not of a decided pure link with a key": {
		func(w *world) {
			both(linked(), leftOut("sessions_options", true))(w)
			w.add("sessions_options", "id", datamap.TypeBigInt)
			w.live("sessions_options").PrimaryKey = []string{"id"}
		}, nil,
	},
}

// A table without a key cannot be in the data map, so a remedy that adds the table must also name the key.
func TestARemedyThatAddsATableWithoutAKeyNamesTheKey(t *testing.T) {
	keyless := func(table string) func(*world) {
		return func(w *world) { w.drop(table, "id"); w.live(table).PrimaryKey = nil }
	}
	unique := func(table, column string, nullable bool) func(*world) {
		return func(w *world) {
			w.column(table, column).Nullable = nullable
			w.live(table).Uniques = []datamap.CatalogUnique{{Columns: []string{column}}}
		}
	}
	for name, test := range map[string]struct {
		change func(*world)
		code   string
		want   bool
	}{
		"deleted by the database":    {linked(), "delete-cascades", true},
		"by a foreign key":           {both(posted, keyless("letters")), "table-unmapped", true},
		"by a foreign key, with key": {posted, "table-unmapped", false},
		"by a name": {
			both(typedOutside("letters", "user_id", datamap.TypeBigInt), keyless("letters")), "table-unlinked", true,
		},
		"refusing": {
			both(letters(datamap.ActionNone), keyless("letters"), (*world).deleteUsers), "delete-restricted", true,
		},
		"by what it holds": {both(outside("leads", "email", "first_name"), keyless("leads")), "table-personal", true},
		"with a unique column": {
			both(posted, keyless("letters"), unique("letters", "user_id", false)), "table-unmapped", false,
		},
		"with a column of NULLs": {
			both(posted, keyless("letters"), unique("letters", "user_id", true)), "table-unmapped", true,
		},
		"by one of several": {
			both(outside("hints"), oneOfColumns("hints", "target"), keyless("hints")), "table-unlinked", true,
		},
		"not a table of a server": {both(posted, keyless("letters"), foreign("letters")), "table-unmapped", false},
	} {
		w := newWorld()
		test.change(w)
		found := w.findings(t)
		const complete = "ive the table a primary key, and add it to the data map"
		if len(found) != 1 || found[0].Code != test.code || strings.Contains(found[0].Remedy, complete) != test.want ||
			test.want && !strings.Contains(found[0].Remedy, "accept the finding") {
			t.Errorf("%s: got %v", name, found)
		}
	}
}

// foreign makes a table one of another server.
func foreign(table string) func(*world) {
	return func(w *world) { w.live(table).Kind = datamap.KindForeign }
}
