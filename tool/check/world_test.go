package check_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/tool/check"
)

// world is a data map and the catalog (the live schema) of a database that matches the data map. Test cases change the
// world.
type world struct {
	tables  []datamap.Table
	catalog datamap.Catalog
	// registers is Options.Registers.
	registers func(context.Context) (bool, error)
	accepted  []datamap.Acceptance // of the data map
	rows      counted              // the answers to all questions
	decisions []datamap.Decision   // of the data map
	undecided bool                 // there is no decision about the tables that are not in the data map
	db        func() *bun.DB       // the database of the constraints; by default, a new one
}

// today is the clock of the checks. It shows the last second of 2026-03-31.
type today struct{}

func (today) Now() time.Time { return time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC) }

const (
	anonymize = domain.StrategyAnonymize
	null      = domain.StrategyNull
	erase     = domain.StrategyErase
)

func personal(strategy domain.Strategy) *datamap.Annotation {
	return &datamap.Annotation{Category: domain.CategoryContact, Strategy: strategy}
}

func belongsTo(table, column string) datamap.Relation {
	return datamap.Relation{Columns: []string{column}, References: table, ReferencedColumns: []string{"id"}}
}

// newWorld returns a world with three tables. An erasure keeps the rows of "users" and "orders", and deletes the rows
// of "sessions".
func newWorld() *world {
	retained := &datamap.Annotation{
		Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "§ 147 AO",
		Retain: datamap.Period{Years: 10}, Since: "issued_at",
	}
	w := &world{tables: []datamap.Table{
		{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "email", Type: datamap.TypeText, Personal: personal(anonymize)},
				{Name: "nick", Type: datamap.TypeText, Personal: personal(null)},
				{Name: "theme", Type: datamap.TypeText},
			},
		},
		{
			Name: "orders", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "user_id")},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "user_id", Type: datamap.TypeBigInt},
				{Name: "address", Type: datamap.TypeText, Personal: retained},
				{Name: "issued_at", Type: datamap.TypeTime},
			},
		},
		{
			Name: "sessions", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "user_id")},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "user_id", Type: datamap.TypeBigInt},
				{Name: "agent", Type: datamap.TypeText, Personal: personal(erase)},
			},
		},
	}}
	for _, table := range w.tables {
		w.catalog.Tables = append(w.catalog.Tables, liveOf(table))
	}
	w.column("users", "id").Nullable = false
	return w
}

// liveOf returns the database table that matches a table of the data map.
func liveOf(table datamap.Table) datamap.CatalogTable {
	live := datamap.CatalogTable{
		Name: table.Name, Kind: datamap.KindTable, Schema: "public", PrimaryKey: table.PrimaryKey, Rows: 5000,
		Indexes: []datamap.CatalogIndex{{Name: table.Name + "_pkey", Columns: table.PrimaryKey}},
	}
	for _, column := range table.Columns {
		live.Columns = append(live.Columns, datamap.CatalogColumn{
			Name: column.Name, Declared: string(column.Type), Type: column.Type,
			Nullable: !slices.Contains(table.PrimaryKey, column.Name),
		})
	}
	for _, relation := range table.Relations {
		live.ForeignKeys = append(live.ForeignKeys, foreignKey(relation.Columns[0], relation.References, datamap.ActionNone))
		live.Indexes = append(live.Indexes, datamap.CatalogIndex{Name: table.Name + "_by", Columns: relation.Columns})
	}
	return live
}

func foreignKey(column, table string, action datamap.ForeignKeyAction) datamap.CatalogForeignKey {
	return datamap.CatalogForeignKey{
		Name: column + "_fkey", Columns: []string{column}, References: table, Referenced: []string{"id"}, OnDelete: action,
	}
}

// deleteUsers changes the data map so that an erasure also deletes the rows of "users". It removes the table "orders",
// so that only "sessions" refers to "users".
func (w *world) deleteUsers() {
	w.tables = slices.DeleteFunc(w.tables, func(t datamap.Table) bool { return t.Name == "orders" })
	w.catalog.Tables = slices.DeleteFunc(w.catalog.Tables, func(t datamap.CatalogTable) bool { return t.Name == "orders" })
	w.table("users").Owned = true
	w.addToBoth("users", datamap.Column{Name: "created_at", Type: datamap.TypeTime}) // tells a new person
	w.field("users", "email").Personal = personal(erase)
	w.field("users", "nick").Personal = personal(erase)
}

func (w *world) table(name string) *datamap.Table {
	return &w.tables[slices.IndexFunc(w.tables, func(t datamap.Table) bool { return t.Name == name })]
}

func (w *world) live(name string) *datamap.CatalogTable {
	tables := w.catalog.Tables
	return &tables[slices.IndexFunc(tables, func(t datamap.CatalogTable) bool { return t.Name == name })]
}

// field returns a column of the data map. The method column returns a column of the database.
func (w *world) field(table, name string) *datamap.Column {
	columns := w.table(table).Columns
	return &columns[slices.IndexFunc(columns, func(c datamap.Column) bool { return c.Name == name })]
}

func (w *world) column(table, name string) *datamap.CatalogColumn {
	columns := w.live(table).Columns
	return &columns[slices.IndexFunc(columns, func(c datamap.CatalogColumn) bool { return c.Name == name })]
}

// drop removes a column from the database.
func (w *world) drop(table, name string) {
	live := w.live(table)
	live.Columns = slices.DeleteFunc(live.Columns, func(c datamap.CatalogColumn) bool { return c.Name == name })
}

// add adds a column to the database only.
func (w *world) add(table, name string, t datamap.ColumnType) {
	live := w.live(table)
	live.Columns = append(live.Columns, datamap.CatalogColumn{Name: name, Declared: string(t), Type: t, Nullable: true})
}

// addToBoth adds a column to the data map and to the database.
func (w *world) addToBoth(table string, columns ...datamap.Column) {
	w.table(table).Columns = append(w.table(table).Columns, columns...)
	for _, column := range columns {
		w.add(table, column.Name, column.Type)
	}
}

// addTable adds a table with text columns to the database only.
func (w *world) addTable(name string, columns ...string) *datamap.CatalogTable {
	live := datamap.CatalogTable{
		Name: name, Kind: datamap.KindTable, Rows: 5000, PrimaryKey: []string{"id"},
		Indexes: []datamap.CatalogIndex{{Columns: []string{"id"}}},
		Columns: []datamap.CatalogColumn{{Name: "id", Declared: "bigint", Type: datamap.TypeBigInt}},
	}
	for _, column := range columns {
		live.Columns = append(live.Columns, datamap.CatalogColumn{
			Name: column, Declared: "text", Type: datamap.TypeText, Nullable: true,
		})
	}
	w.catalog.Tables = append(w.catalog.Tables, live)
	return &w.catalog.Tables[len(w.catalog.Tables)-1]
}

// refer adds a column with a foreign key to "users", and an index on this column, to a table of the database.
func (w *world) refer(table, column string, action datamap.ForeignKeyAction) {
	w.add(table, column, datamap.TypeBigInt)
	live := w.live(table)
	live.ForeignKeys = append(live.ForeignKeys, foreignKey(column, "users", action))
	live.Indexes = append(live.Indexes, datamap.CatalogIndex{Name: column + "_idx", Columns: []string{column}})
}

// findings returns the findings of the world.
func (w *world) findings(t *testing.T) []datamap.Finding {
	t.Helper()
	result, err := w.check(t.Context(), t)
	must(t, err)
	return result.Findings
}

func (w *world) check(ctx context.Context, t *testing.T) (check.Result, error) {
	t.Helper()
	dataMap, err := datamap.NewDataMap(w.tables...)
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	return check.Run(ctx, w.reader(t), w.dataMapOf(dataMap), plan, check.Options{
		Registers: w.registers, Clock: today{}, Rows: w.rows,
	})
}

func (w *world) dataMapOf(m datamap.DataMap) datamap.DataMap {
	m = m.WithAccepted(w.accepted...).WithDecisions(w.decisions...)
	for _, live := range w.catalog.Tables {
		isMapped := slices.ContainsFunc(w.tables, func(t datamap.Table) bool { return live.IsCalled(t.Name) })
		if !w.undecided && !isMapped {
			m = m.WithDecisions(datamap.Decision{Object: live.Name, Answer: "elsewhere", Because: "it is known"})
		}
	}
	return m
}

var must = fixture.Must
