package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// trigger adds a trigger that writes to the given tables.
func trigger(table, event string, writes ...string) func(*world) {
	return func(w *world) {
		w.live(table).Triggers = append(w.live(table).Triggers, datamap.CatalogTrigger{
			Name: "keep", Events: []string{event}, Writes: writes,
		})
	}
}

func outside(name string, columns ...string) func(*world) {
	return func(w *world) { w.addTable(name, columns...) }
}

func both(changes ...func(*world)) func(*world) {
	return func(w *world) {
		for _, change := range changes {
			change(w)
		}
	}
}

func lacks(table, privilege string) func(*world) {
	return func(w *world) { w.live(table).Missing = append(w.live(table).Missing, privilege) }
}

// noIndex removes all indexes of a table except the index of the primary key. It also sets the estimated number of
// rows.
func noIndex(table string, rows int64) func(*world) {
	return func(w *world) { w.live(table).Indexes, w.live(table).Rows = w.live(table).Indexes[:1], rows }
}

// targets makes the reference from "orders" to "users" polymorphic: it applies only to rows with "user" in the column
// "target". It also replaces all indexes, except that of the primary key, by one index on the given columns.
func targets(indexed ...string) func(*world) {
	return func(w *world) {
		w.addToBoth("orders", datamap.Column{Name: "target", Type: datamap.TypeText})
		w.table("orders").Relations[0].When = &datamap.Condition{Column: "target", Value: "user"}
		noIndex("orders", 5000)(w)
		w.live("orders").Indexes = append(w.live("orders").Indexes, datamap.CatalogIndex{Columns: indexed})
		w.live("orders").ForeignKeys = nil
	}
}

var accessCases = cases{
	"row-security": {
		func(w *world) { w.live("orders").RowSecurity = true }, []string{"row-security orders"},
	},
	"row-security not if it is trusted": {
		func(w *world) { w.live("orders").RowSecurity, w.catalog.TrustsRowFilters = true, true }, nil,
	},
	"row-security-bypassed": {
		func(w *world) {
			w.addBadges()
			for _, name := range []string{"orders", "users", "badges"} {
				w.live(name).Secured = true
			}
		}, []string{"row-security-bypassed users"},
	},
	"row-security-bypassed not if it applies": {
		func(w *world) { w.live("orders").Secured, w.live("orders").RowSecurity = true, true },
		[]string{"row-security orders"},
	},
	"row-security-bypassed not if it is trusted": {
		func(w *world) { w.live("orders").Secured, w.catalog.TrustsRowFilters = true, true }, nil,
	},
	"row-security not of another table": {func(w *world) { w.addBadges(); w.live("badges").RowSecurity = true }, nil},
	"privilege-missing to read":         {lacks("orders", "SELECT"), []string{"privilege-missing orders SELECT"}},
	"privilege-missing to write":        {lacks("users", "UPDATE"), []string{"privilege-missing users UPDATE"}},
	"privilege-missing to delete":       {lacks("sessions", "DELETE"), []string{"privilege-missing sessions DELETE"}},
	"privilege-missing to lock": {
		deletingUsers(lacks("users", "UPDATE")), []string{"privilege-missing users UPDATE"},
	},
	"privilege-missing to lock a table on a path": {
		func(w *world) { w.addCarts(); lacks("carts", "UPDATE")(w) }, []string{"privilege-missing carts UPDATE"},
	},
	"privilege-missing to lock rows with keys of an external system": {
		func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "recording", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryBehavioral, Strategy: domain.StrategyDelete, Ref: "media",
			}})
			lacks("sessions", "UPDATE")(w)
		},
		[]string{"privilege-missing sessions UPDATE", "ref-shared sessions.recording"},
	},
	"privilege-missing not to insert":        {both(lacks("users", "INSERT"), lacks("users", "DELETE")), nil},
	"privilege-missing not to write":         {lacks("sessions", "UPDATE"), nil},
	"privilege-missing not of another table": {func(w *world) { w.addBadges(); lacks("badges", "SELECT")(w) }, nil},
	"privilege-missing on a column": {
		func(w *world) { w.column("users", "email").Missing = []string{"UPDATE"} },
		[]string{"privilege-missing users.email UPDATE"},
	},
	"privilege-missing to read a column": {
		func(w *world) { w.column("orders", "user_id").Missing = []string{"SELECT"} },
		[]string{"privilege-missing orders.user_id SELECT"},
	},
	"privilege-missing not on a column of no use": {
		func(w *world) { w.column("users", "theme").Missing = []string{"SELECT", "UPDATE"} }, nil,
	},
	"privilege-missing once": {
		func(w *world) {
			lacks("users", "UPDATE")(w)
			w.column("users", "email").Missing = []string{"UPDATE"}
		}, []string{"privilege-missing users UPDATE"},
	},
	"index-missing":                    {noIndex("sessions", 5000), []string{"index-missing sessions.user_id"}},
	"index-missing without statistics": {noIndex("orders", -1), []string{"index-missing orders.user_id"}},
	"index-missing of a foreign key": {
		deletingUsers(func(w *world) { letters(datamap.ActionSetNull)(w); noIndex("letters", 5000)(w) }),
		[]string{"index-missing letters.user_id"},
	},
	"index-missing of the subject": {
		func(w *world) { w.live("users").Indexes = nil }, []string{"index-missing users.id"},
	},
	"index-missing if it is partial": {
		func(w *world) { w.live("orders").Indexes[1].Partial = true }, []string{"index-missing orders.user_id orders_by"},
	},
	"index-missing not if it only leaves out NULL": {
		func(w *world) {
			w.live("orders").Indexes[1].Partial, w.live("orders").Indexes[1].Present = true, []string{"user_id"}
		}, nil,
	},
	"index-missing if it leaves out NULL of another column": {
		func(w *world) {
			w.live("orders").Indexes[1].Partial, w.live("orders").Indexes[1].Present = true, []string{"address"}
		}, []string{"index-missing orders.user_id orders_by"},
	},
	"index-missing if the column comes later": {
		func(w *world) { w.live("orders").Indexes[1].Columns = []string{"address", "user_id"} },
		[]string{"index-missing orders.user_id"},
	},
	"index-missing of a condition":     {targets("target"), []string{"index-missing orders.user_id"}},
	"index-missing not of a condition": {targets("target", "user_id"), nil},
	"index-missing not of partitions": {
		func(w *world) { noIndex("orders", 5000)(w); w.live("orders").Kind = datamap.KindPartitioned }, nil,
	},
	"index-missing not of a small table": {noIndex("orders", 999), nil},
	"index-missing not of rows that stay": {
		func(w *world) { letters(datamap.ActionSetNull)(w); noIndex("letters", 5000)(w) },
		nil,
	},
	"foreign-key-missing": {
		func(w *world) { w.live("orders").ForeignKeys = nil }, []string{"foreign-key-missing orders.user_id"},
	},
	"foreign-key-missing if it refers to another table": {
		func(w *world) { w.live("orders").ForeignKeys[0].References = "sessions" },
		[]string{"delete-restricted orders.user_id user_id_fkey", "foreign-key-missing orders.user_id"},
	},
	"foreign-key-missing of three tables": {
		unlinked("visits"), []string{
			"foreign-key-missing orders.user_id", "foreign-key-missing sessions.user_id", "foreign-key-missing visits.user_id",
		},
	},
	"foreign-key-missing of many tables": {unlinked("visits", "calls"), []string{"foreign-key-missing orders all"}},
	"foreign-key-missing of many tables, of which one is accepted": {
		both(unlinked("visits", "calls", "trips"), accepted("foreign-key-missing", "orders", "user_id")),
		[]string{"foreign-key-missing sessions all"},
	},
	"foreign-key-missing not of many tables if it is accepted": {
		both(unlinked("visits", "calls"), accepted("foreign-key-missing", "orders", "")), nil,
	},
	"foreign-key-missing not if it has more columns": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{Name: "tenant", Type: datamap.TypeText})
			w.live("orders").ForeignKeys[0].Columns = []string{"tenant", "user_id"}
		}, []string{"path-missing orders.tenant, user_id user_id_fkey"},
	},
	"foreign-key-missing not if it would refer to a view": {
		func(w *world) { w.live("orders").ForeignKeys = nil; w.live("users").Kind = datamap.KindView }, nil,
	},
	"foreign-key-missing not if the column is missing": {
		func(w *world) { w.live("orders").ForeignKeys = nil; w.drop("orders", "user_id") },
		[]string{"column-missing orders.user_id"},
	},
	"foreign-key-missing not of a condition": {targets("target", "user_id"), nil},
	"foreign-key-missing not with serial writes": {
		func(w *world) { w.live("orders").ForeignKeys = nil; w.catalog.SerialWrites = true }, nil,
	},
	"foreign-keys-ignored": {
		func(w *world) { w.catalog.IgnoresForeignKeys = true }, []string{"foreign-keys-ignored users"},
	},
	"foreign-keys-ignored not without foreign keys": {
		func(w *world) {
			w.catalog.IgnoresForeignKeys, w.catalog.SerialWrites = true, true
			for i := range w.catalog.Tables {
				w.catalog.Tables[i].ForeignKeys = nil
			}
		}, nil,
	},
	"foreign-key-missing not of another table": {
		func(w *world) { w.addBadges(); w.live("badges").ForeignKeys = nil }, nil,
	},
	"index-missing not of another table": {func(w *world) { w.addBadges(); noIndex("badges", 5000)(w) }, nil},
}

// unlinked adds tables whose rows belong to users, and drops all foreign keys.
func unlinked(tables ...string) func(*world) {
	return func(w *world) {
		for _, name := range tables {
			table := *w.table("sessions")
			table.Name = name
			w.tables, w.catalog.Tables = append(w.tables, table), append(w.catalog.Tables, liveOf(table))
		}
		for i := range w.catalog.Tables {
			w.catalog.Tables[i].ForeignKeys = nil
		}
	}
}

func TestAFindingNamesAllTablesWithoutAForeignKey(t *testing.T) {
	w := newWorld()
	unlinked("visits", "calls")(w)
	found := w.findings(t)
	const want = "4 tables refer without a foreign key: calls.user_id, orders.user_id, sessions.user_id, visits.user_id."
	if len(found) != 1 || !strings.HasPrefix(found[0].Reason, want) {
		t.Errorf("got %v", found)
	}
}

func accepted(rule, table, column string) func(*world) {
	return func(w *world) {
		w.accepted = append(w.accepted, datamap.Acceptance{
			Rule: rule, Table: table, Column: column, Reason: "is known", Until: "2026-12-31",
		})
	}
}
