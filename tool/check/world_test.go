package check_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/ports/mocks"
	"github.com/habeas-data/habeas/tool/check"
)

// world is a data map and the catalog (the live schema) of a database that matches the data map. Test cases change the
// world.
type world struct {
	tables  []domain.Table
	catalog domain.Catalog
	// registers is Options.Registers.
	registers func(context.Context) (bool, error)
	accepted  []domain.Acceptance // of the data map
}

// today is the clock of the checks. It shows the last second of 2026-03-31.
type today struct{}

func (today) Now() time.Time { return time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC) }

const (
	anonymize = domain.StrategyAnonymize
	null      = domain.StrategyNull
	erase     = domain.StrategyErase
)

func personal(strategy domain.Strategy) *domain.Annotation {
	return &domain.Annotation{Category: domain.CategoryContact, Strategy: strategy}
}

func belongsTo(table, column string) domain.Relation {
	return domain.Relation{Columns: []string{column}, References: table, ReferencedColumns: []string{"id"}}
}

// newWorld returns a world with three tables. An erasure keeps the rows of "users" and "orders", and deletes the rows
// of "sessions".
func newWorld() *world {
	retained := &domain.Annotation{
		Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "§ 147 AO",
		Retain: domain.Period{Years: 10}, Since: "issued_at",
	}
	w := &world{tables: []domain.Table{
		{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []domain.Column{
				{Name: "id", Type: domain.TypeBigInt},
				{Name: "email", Type: domain.TypeText, Personal: personal(anonymize)},
				{Name: "nick", Type: domain.TypeText, Personal: personal(null)},
				{Name: "theme", Type: domain.TypeText},
			},
		},
		{
			Name: "orders", PrimaryKey: []string{"id"}, Relations: []domain.Relation{belongsTo("users", "user_id")},
			Columns: []domain.Column{
				{Name: "id", Type: domain.TypeBigInt},
				{Name: "user_id", Type: domain.TypeBigInt},
				{Name: "address", Type: domain.TypeText, Personal: retained},
				{Name: "issued_at", Type: domain.TypeTime},
			},
		},
		{
			Name: "sessions", PrimaryKey: []string{"id"}, Relations: []domain.Relation{belongsTo("users", "user_id")},
			Columns: []domain.Column{
				{Name: "id", Type: domain.TypeBigInt},
				{Name: "user_id", Type: domain.TypeBigInt},
				{Name: "agent", Type: domain.TypeText, Personal: personal(erase)},
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
func liveOf(table domain.Table) domain.CatalogTable {
	live := domain.CatalogTable{
		Name: table.Name, Kind: domain.KindTable, Schema: "public", PrimaryKey: table.PrimaryKey, Rows: 5000,
		Indexes: []domain.CatalogIndex{{Name: table.Name + "_pkey", Columns: table.PrimaryKey}},
	}
	for _, column := range table.Columns {
		live.Columns = append(live.Columns, domain.CatalogColumn{
			Name: column.Name, Declared: string(column.Type), Type: column.Type,
			Nullable: !slices.Contains(table.PrimaryKey, column.Name),
		})
	}
	for _, relation := range table.Relations {
		live.ForeignKeys = append(live.ForeignKeys, foreignKey(relation.Columns[0], relation.References, domain.ActionNone))
		live.Indexes = append(live.Indexes, domain.CatalogIndex{Name: table.Name + "_by", Columns: relation.Columns})
	}
	return live
}

func foreignKey(column, table string, action domain.ForeignKeyAction) domain.CatalogForeignKey {
	return domain.CatalogForeignKey{
		Name: column + "_fkey", Columns: []string{column}, References: table, Referenced: []string{"id"}, OnDelete: action,
	}
}

// deleteUsers changes the data map so that an erasure also deletes the rows of "users". It removes the table "orders",
// so that only "sessions" refers to "users".
func (w *world) deleteUsers() {
	w.tables = slices.DeleteFunc(w.tables, func(t domain.Table) bool { return t.Name == "orders" })
	w.catalog.Tables = slices.DeleteFunc(w.catalog.Tables, func(t domain.CatalogTable) bool { return t.Name == "orders" })
	w.table("users").Owned = true
	w.addToBoth("users", domain.Column{Name: "created_at", Type: domain.TypeTime}) // tells a new person
	w.field("users", "email").Personal = personal(erase)
	w.field("users", "nick").Personal = personal(erase)
}

func (w *world) table(name string) *domain.Table {
	return &w.tables[slices.IndexFunc(w.tables, func(t domain.Table) bool { return t.Name == name })]
}

func (w *world) live(name string) *domain.CatalogTable {
	tables := w.catalog.Tables
	return &tables[slices.IndexFunc(tables, func(t domain.CatalogTable) bool { return t.Name == name })]
}

// field returns a column of the data map. The method column returns a column of the database.
func (w *world) field(table, name string) *domain.Column {
	columns := w.table(table).Columns
	return &columns[slices.IndexFunc(columns, func(c domain.Column) bool { return c.Name == name })]
}

func (w *world) column(table, name string) *domain.CatalogColumn {
	columns := w.live(table).Columns
	return &columns[slices.IndexFunc(columns, func(c domain.CatalogColumn) bool { return c.Name == name })]
}

// drop removes a column from the database.
func (w *world) drop(table, name string) {
	live := w.live(table)
	live.Columns = slices.DeleteFunc(live.Columns, func(c domain.CatalogColumn) bool { return c.Name == name })
}

// add adds a column to the database only.
func (w *world) add(table, name string, t domain.ColumnType) {
	live := w.live(table)
	live.Columns = append(live.Columns, domain.CatalogColumn{Name: name, Declared: string(t), Type: t, Nullable: true})
}

// addToBoth adds a column to the data map and to the database.
func (w *world) addToBoth(table string, column domain.Column) {
	w.table(table).Columns = append(w.table(table).Columns, column)
	w.add(table, column.Name, column.Type)
}

// addTable adds a table with text columns to the database only.
func (w *world) addTable(name string, columns ...string) *domain.CatalogTable {
	live := domain.CatalogTable{
		Name: name, Kind: domain.KindTable, Rows: 5000, PrimaryKey: []string{"id"},
		Indexes: []domain.CatalogIndex{{Columns: []string{"id"}}},
		Columns: []domain.CatalogColumn{{Name: "id", Declared: "bigint", Type: domain.TypeBigInt}},
	}
	for _, column := range columns {
		live.Columns = append(live.Columns, domain.CatalogColumn{
			Name: column, Declared: "text", Type: domain.TypeText, Nullable: true,
		})
	}
	w.catalog.Tables = append(w.catalog.Tables, live)
	return &w.catalog.Tables[len(w.catalog.Tables)-1]
}

// refer adds a column with a foreign key to "users", and an index on this column, to a table of the database.
func (w *world) refer(table, column string, action domain.ForeignKeyAction) {
	w.add(table, column, domain.TypeBigInt)
	live := w.live(table)
	live.ForeignKeys = append(live.ForeignKeys, foreignKey(column, "users", action))
	live.Indexes = append(live.Indexes, domain.CatalogIndex{Name: column + "_idx", Columns: []string{column}})
}

// findings returns the findings of the world.
func (w *world) findings(t *testing.T) []domain.Finding {
	t.Helper()
	result, err := w.check(t.Context(), t)
	must(t, err)
	return result.Findings
}

func (w *world) check(ctx context.Context, t *testing.T) (domain.CheckResult, error) {
	t.Helper()
	dataMap, err := domain.NewDataMap(w.tables...)
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	reader := mocks.NewMockCatalogReader(gomock.NewController(t))
	reader.EXPECT().Catalog(gomock.Any()).Return(w.catalog, nil)
	return check.Run(ctx, reader, dataMap.WithAccepted(w.accepted...), plan, check.Options{
		Registers: w.registers, Clock: today{},
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
