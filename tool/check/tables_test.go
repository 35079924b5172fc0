package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func (w *world) without(table string) {
	for i, live := range w.catalog.Tables {
		if live.Name == table {
			w.catalog.Tables = append(w.catalog.Tables[:i], w.catalog.Tables[i+1:]...)
			return
		}
	}
}

// addBadges adds the table "badges" to the data map and to the database. The table has no personal data, and an erasure
// does not use it.
func (w *world) addBadges() {
	w.tables = append(w.tables, datamap.Table{
		Name: "badges", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "user_id")},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt}, {Name: "user_id", Type: datamap.TypeBigInt}, {Name: "color"},
		},
	})
	w.catalog.Tables = append(w.catalog.Tables, liveOf(w.tables[len(w.tables)-1]))
}

// addCarts adds the table "carts", which has no personal data, and a table that refers to the subject only through
// "carts".
func (w *world) addCarts() {
	items := datamap.Table{
		Name: "items", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("carts", "cart_id")},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "cart_id", Type: datamap.TypeBigInt},
			{Name: "wish", Type: datamap.TypeText, Personal: personal(anonymize)},
		},
	}
	carts := datamap.Table{
		Name: "carts", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "user_id")},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "user_id", Type: datamap.TypeBigInt}},
	}
	w.tables = append(w.tables, carts, items)
	w.catalog.Tables = append(w.catalog.Tables, liveOf(carts), liveOf(items))
}

// view replaces a table with a view.
func (w *world) view(table string, kind datamap.TableKind) *datamap.CatalogTable {
	live := w.live(table)
	live.Kind, live.PrimaryKey, live.Indexes, live.ForeignKeys = kind, nil, nil, nil
	return live
}

// unannotated removes the annotations of all columns. If retained is true, it keeps the annotations of retained
// columns.
func (w *world) unannotated(retained bool) {
	for i := range w.tables {
		for j, column := range w.tables[i].Columns {
			if column.Personal != nil && (!retained || column.Personal.Strategy != domain.StrategyRetain) {
				w.tables[i].Columns[j].Personal = nil
			}
		}
	}
}

var tableCases = cases{
	"nothing-erased": {func(w *world) { w.unannotated(false) }, []string{
		"nothing-erased users", "personal-unannotated orders.address", "personal-unannotated sessions.agent",
		"personal-unannotated users.email",
	}},
	"nothing-erased not if it retains": {func(w *world) { w.unannotated(true) }, []string{
		"life-unknown users", "personal-unannotated sessions.agent", "personal-unannotated users.email",
	}},
	"table-missing":                     {func(w *world) { w.without("orders") }, []string{"table-missing orders"}},
	"table-missing not with its schema": {func(w *world) { w.table("sessions").Name = "public.sessions" }, nil},
	"table-missing not in another case": {
		func(w *world) { w.live("orders").FoldsCase = true; w.live("orders").Name = "Orders" }, nil,
	},
	"map-outdated by a table": {
		func(w *world) { w.addBadges(); w.without("badges") }, []string{"map-outdated badges"},
	},
	"map-outdated by a column": {
		func(w *world) { w.drop("users", "theme") }, []string{"map-outdated users.theme"},
	},
	"map-outdated not by further columns": {func(w *world) { w.add("users", "color", datamap.TypeText) }, nil},
	"column-missing": {
		func(w *world) { w.drop("users", "email") }, []string{"column-missing users.email"},
	},
	"column-missing of a key": {
		func(w *world) { w.drop("orders", "id") }, []string{"column-missing orders.id"},
	},
	"column-missing of a relation": {
		func(w *world) { w.drop("orders", "user_id") }, []string{"column-missing orders.user_id"},
	},
	"column-missing of a duty": {
		func(w *world) { w.drop("orders", "issued_at") }, []string{"column-missing orders.issued_at"},
	},
	"column-missing not of a table of no use": {
		func(w *world) { w.addBadges(); w.drop("badges", "user_id") }, []string{"map-outdated badges.user_id"},
	},
	"column-missing not in another case": {
		func(w *world) { w.live("users").FoldsCase = true; w.column("users", "email").Name = "Email" }, nil,
	},
	"column-missing in another case": {
		func(w *world) { w.column("users", "theme").Name = "Theme" }, []string{"map-outdated users.theme"},
	},
	"primary-key-missing": {
		func(w *world) { w.live("orders").PrimaryKey = nil }, []string{"primary-key-missing orders.id"},
	},
	"primary-key-missing if it has another column": {
		func(w *world) { w.live("orders").PrimaryKey = []string{"id", "user_id"} }, []string{"primary-key-missing orders.id"},
	},
	"primary-key-missing if it is partial": {
		func(w *world) {
			w.live("orders").PrimaryKey = nil
			w.live("orders").Uniques = []datamap.CatalogUnique{{Columns: []string{"id"}, Partial: true}}
		}, []string{"primary-key-missing orders.id"},
	},
	"primary-key-missing if it is excluded": {
		func(w *world) {
			w.live("orders").PrimaryKey = nil
			w.live("orders").Uniques = []datamap.CatalogUnique{{Columns: []string{"id"}, Exclusion: true}}
		}, []string{"primary-key-missing orders.id"},
	},
	"primary-key-missing if it is an expression": {
		func(w *world) {
			w.live("orders").PrimaryKey = nil
			w.live("orders").Uniques = []datamap.CatalogUnique{{Columns: []string{"id"}, Expressions: true}}
		}, []string{"primary-key-missing orders.id"},
	},
	"primary-key-missing if it can be NULL": {
		func(w *world) {
			w.live("orders").PrimaryKey = nil
			w.live("orders").Uniques = []datamap.CatalogUnique{{Columns: []string{"id"}}}
			w.column("orders", "id").Nullable = true
		}, []string{"primary-key-missing orders.id"},
	},
	"primary-key-missing not if it is unique": {
		func(w *world) {
			w.live("orders").PrimaryKey = nil
			w.live("orders").Uniques = []datamap.CatalogUnique{{Columns: []string{"id"}}}
		}, nil,
	},
	"primary-key-missing not if only one row can have NULL": {
		func(w *world) {
			w.live("orders").PrimaryKey = nil
			w.live("orders").Uniques = []datamap.CatalogUnique{{Columns: []string{"id"}, NullsEqual: true}}
			w.column("orders", "id").Nullable = true
		}, nil,
	},
	"relation-shared": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "family_id", Type: datamap.TypeBigInt})
			w.addToBoth("orders", datamap.Column{Name: "family_id", Type: datamap.TypeBigInt})
			w.table("orders").Relations[0].Columns = []string{"family_id"}
			w.table("orders").Relations[0].ReferencedColumns = []string{"family_id"}
		}, []string{
			"index-missing orders.family_id", "path-missing orders.user_id user_id_fkey", "relation-shared orders.family_id",
		},
	},
	"relation-shared not if the columns are unique": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "number", Type: datamap.TypeBigInt})
			w.addToBoth("orders", datamap.Column{Name: "number", Type: datamap.TypeBigInt})
			w.live("users").Uniques = append(w.live("users").Uniques, datamap.CatalogUnique{Columns: []string{"number"}})
			w.table("orders").Relations[0].Columns = []string{"number"}
			w.table("orders").Relations[0].ReferencedColumns = []string{"number"}
		}, []string{
			"foreign-key-missing orders.number", "index-missing orders.number", "path-missing orders.user_id user_id_fkey",
		},
	},
	"subject-key-shared": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "uid", Type: datamap.TypeUUID})
			w.table("users").SubjectKey = []string{"uid"}
			w.live("users").Indexes = append(w.live("users").Indexes, datamap.CatalogIndex{Columns: []string{"uid"}})
		}, []string{"subject-key-shared users.uid"},
	},
	"subject-key-shared not if it is unique": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "uid", Type: datamap.TypeUUID})
			w.table("users").SubjectKey = []string{"uid"}
			w.live("users").Indexes = append(w.live("users").Indexes, datamap.CatalogIndex{Columns: []string{"uid"}})
			w.live("users").Uniques = []datamap.CatalogUnique{{Columns: []string{"uid"}}}
		}, nil,
	},
	"column-unmapped": {
		func(w *world) { w.add("sessions", "color", datamap.TypeText) }, []string{"column-unmapped sessions.color"},
	},
	"column-unmapped not if it is owned": {
		func(w *world) { w.add("sessions", "color", datamap.TypeText); w.table("sessions").Owned = true }, nil,
	},
	"column-unmapped not if it is generated": {
		func(w *world) {
			w.add("sessions", "color", datamap.TypeText)
			w.column("sessions", "color").Generated = true
		}, nil,
	},
	"column-unmapped not if the path deletes the rows": {
		func(w *world) {
			w.add("sessions", "color", datamap.TypeText)
			w.table("sessions").Relations[0].Path = true
			w.table("sessions").Relations[0].OnErasure = domain.StrategyDelete
		}, nil,
	},
	"rows-not-lockable": {
		func(w *world) { w.view("users", datamap.KindMatView) }, []string{"rows-not-lockable users"},
	},
	"rows-not-lockable not of the subject if no step changes it": {
		func(w *world) {
			w.addCarts()
			w.view("users", datamap.KindMatView)
			for i := range w.table("users").Columns {
				if personal := w.table("users").Columns[i].Personal; personal != nil {
					personal.Strategy, personal.Reason = domain.StrategyRetain, "law"
				}
			}
		}, []string{"life-unknown users"},
	},
	"rows-not-lockable of another server": {
		func(w *world) { w.view("sessions", datamap.KindForeign) }, []string{"rows-not-lockable sessions"},
	},
	"rows-not-lockable on a path": {
		func(w *world) { w.addCarts(); w.view("carts", datamap.KindForeign) }, []string{"rows-not-lockable carts"},
	},
	"rows-not-lockable not of a view": {func(w *world) { w.view("sessions", datamap.KindView) }, nil},
	"rows-not-lockable not if rows are only read": {
		func(w *world) {
			w.field("orders", "address").Personal.Retain, w.field("orders", "address").Personal.Since = datamap.Period{}, ""
			w.view("orders", datamap.KindForeign)
		}, nil,
	},
	"view-mapped": {
		func(w *world) { w.view("sessions", datamap.KindView).Filtered = true }, []string{"view-mapped sessions sessions"},
	},
	"view-mapped because of an expression": {
		func(w *world) { w.view("sessions", datamap.KindView).Columns[0].Derived = true },
		[]string{"view-mapped sessions sessions"},
	},
	"view-mapped not if all row filters are trusted": {
		func(w *world) { w.view("sessions", datamap.KindView).Filtered, w.catalog.TrustsRowFilters = true, true }, nil,
	},
	"view-trusted": {
		func(w *world) {
			w.view("sessions", datamap.KindView).Filtered, w.table("sessions").Trusted = true, true
		},
		[]string{"view-trusted sessions sessions"},
	},
	"view-trusted not of a table":          {func(w *world) { w.table("sessions").Trusted = true }, nil},
	"view-mapped not if it shows all rows": {func(w *world) { w.view("sessions", datamap.KindView) }, nil},
}

// A foreign key by an address, such as that of an invitation, would refuse rows about people who have no row.
func TestARelationByAnAddressNeedsNoForeignKey(t *testing.T) {
	w := newWorld()
	tableCases["relation-shared not if the columns are unique"].change(w)
	if !slices.ContainsFunc(w.findings(t), func(f datamap.Finding) bool {
		return f.Code == "foreign-key-missing" && strings.Contains(f.Remedy, "who have no row there")
	}) {
		t.Error("no remedy for people who have no row")
	}
}
