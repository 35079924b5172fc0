package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

var judgedCases = cases{
	"secret-exported of a pin":                    {exported("pin"), []string{"secret-exported users.pin"}},
	"secret-exported not of the number of a room": {exported("room"), nil},
	"secret-key": {
		func(w *world) {
			w.table("sessions").PrimaryKey = []string{"token"}
			w.table("sessions").Columns[0] = datamap.Column{Name: "token", Type: datamap.TypeText}
			*w.live("sessions") = liveOf(*w.table("sessions"))
		}, []string{"secret-key sessions.token"},
	},
	"secret-key not of a number": {func(*world) {}, nil},
	"foreign-key-missing not in the other direction": {
		func(w *world) {
			table := datamap.Table{
				Name: "homes", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
					{Name: "id", Type: datamap.TypeBigInt}, {Name: "street", Type: datamap.TypeText, Personal: personal(null)},
				},
				Relations: []datamap.Relation{
					{Columns: []string{"id"}, References: "users", ReferencedColumns: []string{"home_id"}},
				},
			}
			w.addToBoth("users", datamap.Column{Name: "home_id", Type: datamap.TypeBigInt})
			w.tables = append(w.tables, table)
			live := liveOf(table)
			w.live("users").Uniques = append(w.live("users").Uniques, datamap.CatalogUnique{Columns: []string{"home_id"}})
			live.ForeignKeys = nil
			w.catalog.Tables = append(w.catalog.Tables, live)
			w.live("users").ForeignKeys = append(w.live("users").ForeignKeys, foreignKey("home_id", "homes", datamap.ActionNone))
		}, nil,
	},
}

// exported adds an annotated column of users that exports show.
func exported(name string) func(*world) {
	return func(w *world) {
		w.addToBoth("users", datamap.Column{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryContact, Strategy: anonymize,
		}})
	}
}

// A trigger that writes to the referring rows at a deletion may make them refer elsewhere, so lint cannot say that the
// deletion fails. A remedy must not harm: SET NULL of a NOT NULL column would make the erasure fail.
func TestAForeignKeyOnlyMayRefuseADeletionIfATriggerWrites(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*world)
		severity datamap.Severity
		remedy   string
	}{
		"a trigger":       {trigger("sessions", "DELETE", "states"), datamap.SeverityWarning, "Rehearse an erasure"},
		"another trigger": {trigger("sessions", "INSERT", "states"), datamap.SeverityError, "or declare ON DELETE SET NULL"},
		"no trigger":      {func(*world) {}, datamap.SeverityError, "or declare ON DELETE SET NULL"},
		"a column that is not nullable": {
			func(w *world) { w.column("states", "session_id").Nullable = false }, datamap.SeverityError,
			"drop NOT NULL and declare",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.addTable("states", "label")
			w.add("states", "session_id", datamap.TypeBigInt)
			live := w.live("states")
			live.ForeignKeys = append(live.ForeignKeys, foreignKey("session_id", "sessions", datamap.ActionNone))
			live.Indexes = append(live.Indexes, datamap.CatalogIndex{Columns: []string{"session_id"}})
			c.change(w)
			found := slices.DeleteFunc(w.findings(t), func(f datamap.Finding) bool { return f.Code != "delete-restricted" })
			if len(found) != 1 || found[0].Severity != c.severity || !strings.Contains(found[0].Remedy, c.remedy) {
				t.Errorf("got %v", found)
			}
		})
	}
}
