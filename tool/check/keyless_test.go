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
	"delete-cascades of a link": {linked(), []string{cascading}},
}

// A table without a key cannot be in the data map, so a remedy that adds the table must also name the key.
func TestARemedyThatAddsATableWithoutAKeyNamesTheKey(t *testing.T) {
	keyless := func(table string) func(*world) {
		return func(w *world) { w.drop(table, "id"); w.live(table).PrimaryKey = nil }
	}
	for name, test := range map[string]struct {
		change func(*world)
		code   string
		want   bool
	}{
		"deleted by the database": {linked(), "delete-cascades", true},
		"refusing": {
			both(letters(datamap.ActionNone), keyless("letters"), (*world).deleteUsers), "delete-restricted", true,
		},
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
