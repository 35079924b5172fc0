package porttest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

// catalogFunc implements ports.CatalogReader with a function.
type catalogFunc func(ctx context.Context) (datamap.Catalog, error)

func (f catalogFunc) Catalog(ctx context.Context) (datamap.Catalog, error) { return f(ctx) }

func (nowhere) Catalog(context.Context) (datamap.Catalog, error) {
	return datamap.Catalog{}, errNowhere
}

// readsCatalog returns a function that makes a store defective: its Catalog returns the result of read. The parameter
// good is the correct CatalogReader.
func readsCatalog(read func(ctx context.Context, good ports.CatalogReader) (datamap.Catalog, error)) func(*Store) {
	return func(store *Store) {
		good := store.Catalog
		store.Catalog = catalogFunc(func(ctx context.Context) (datamap.Catalog, error) { return read(ctx, good) })
	}
}

// keepsCatalog makes a store defective: its Catalog returns the same slices to all callers.
func keepsCatalog(store *Store) {
	var once sync.Once
	var kept datamap.Catalog
	readsCatalog(func(ctx context.Context, good ports.CatalogReader) (datamap.Catalog, error) {
		once.Do(func() { kept, _ = good.Catalog(context.WithoutCancel(ctx)) })
		return kept, ctx.Err()
	})(store)
}

// changesTables returns a function that makes a store defective: its Catalog passes each table through fn before it
// returns the table.
func changesTables(fn func(*datamap.CatalogTable)) func(*Store) {
	return readsCatalog(func(ctx context.Context, good ports.CatalogReader) (datamap.Catalog, error) {
		catalog, err := good.Catalog(ctx)
		for i := range catalog.Tables {
			fn(&catalog.Tables[i])
		}
		return catalog, err
	})
}

func changesColumns(fn func(*datamap.CatalogColumn)) func(*Store) {
	return changesTables(func(table *datamap.CatalogTable) {
		for i := range table.Columns {
			fn(&table.Columns[i])
		}
	})
}

func changesForeignKeys(fn func(*datamap.CatalogForeignKey)) func(*Store) {
	return changesTables(func(table *datamap.CatalogTable) {
		for i := range table.ForeignKeys {
			fn(&table.ForeignKeys[i])
		}
	})
}

func TestACatalogReaderThatKeepsItsPromisesPasses(t *testing.T) {
	TestCatalogReader(t, inMemory(noDefect))
}

func TestCatalogReadersThatBreakAPromiseFail(t *testing.T) {
	type (
		table  = datamap.CatalogTable
		column = datamap.CatalogColumn
		key    = datamap.CatalogForeignKey
		reader = ports.CatalogReader
	)
	swap := func(names []string) {
		if len(names) > 1 {
			names[0], names[1] = names[1], names[0]
		}
	}
	promise.ExpectDefects(t, *update, catalogPromises, brokenStore, defects{
		"tables in any order": {readsCatalog(func(ctx context.Context, good reader) (datamap.Catalog, error) {
			catalog, err := good.Catalog(ctx)
			slices.Reverse(catalog.Tables)
			return catalog, err
		}), found{"the tables are [wraps": {catalogListsTheTables}}},
		"tables of habeas": {readsCatalog(func(ctx context.Context, good reader) (datamap.Catalog, error) {
			catalog, err := good.Catalog(ctx)
			catalog.Tables = append(catalog.Tables, table{Name: "habeas_outbox", Kind: datamap.KindTable})
			return catalog, err
		}), found{"habeas_outbox": {catalogListsTheTables}}},
		"a view": {changesTables(func(t *table) { t.Kind = datamap.KindView }), found{"is a view": {catalogListsTheTables}}},
		"types as they are called": {
			changesColumns(func(c *column) { c.Type = datamap.ColumnType("int8") }),
			found{`is "int8"`: {catalogHasTheColumns}},
		},
		"numbers that are too small": {changesColumns(func(c *column) {
			if c.Type == datamap.TypeBigInt {
				c.Type = datamap.TypeSmallInt
			}
		}), found{`is "smallint"`: {catalogHasTheColumns}}},
		"columns by name": {changesTables(func(t *table) {
			slices.SortFunc(t.Columns, func(a, b column) int { return -cmp.Compare(a.Name, b.Name) })
		}), found{"want tenant": {catalogHasTheColumns}}},
		"no lengths": {
			changesColumns(func(c *column) { c.Length = 0 }), found{"takes 0 characters": {catalogHasTheColumns}},
		},
		"never NULL": {
			changesColumns(func(c *column) { c.Nullable = false }), found{"Nullable is": {catalogHasTheColumns}},
		},
		"keys as listed": {
			changesTables(func(t *table) { swap(t.PrimaryKey) }), found{"the primary key of": {catalogHasThePrimaryKeys}},
		},
		"a foreign key that is forgotten": {
			changesTables(func(t *table) { t.ForeignKeys = t.ForeignKeys[:0] }),
			found{"the foreign keys of orders are [], want": {catalogHasTheForeignKeys}},
		},
		"foreign keys that are mixed up": {
			changesForeignKeys(func(k *key) { swap(k.Columns) }),
			found{"the foreign keys of": {catalogHasTheForeignKeys}},
		},
		"foreign keys that cascade": {
			changesForeignKeys(func(k *key) { k.OnDelete = datamap.ActionCascade }),
			found{`is "cascade"`: {catalogHasTheForeignKeys}},
		},
		"an index over nothing": {
			changesTables(func(t *table) { t.Indexes = []datamap.CatalogIndex{{Name: "none"}} }),
			found{"has no columns": {catalogKeysNameColumnsOfTheirTable}},
		},
		"a unique of another table": {changesTables(func(t *table) {
			t.Uniques = []datamap.CatalogUnique{{Name: "one", Columns: []string{"elsewhere"}}}
		}), found{`names the column "elsewhere"`: {catalogKeysNameColumnsOfTheirTable}}},
		"a value as the default": {
			changesColumns(func(c *column) { c.Declared = zoe.says("name") }),
			found{"holds a value": {catalogHoldsNoValue}},
		},
		"a catalog that is kept": {keepsCatalog, found{"has changed": {catalogBelongsToItsCaller}}},
		"a context that is ignored": {readsCatalog(func(ctx context.Context, good reader) (datamap.Catalog, error) {
			return good.Catalog(context.WithoutCancel(ctx))
		}), found{"Catalog returned <nil>": {catalogEndsWithItsContext}}},
		"an unreachable store without tables": {func(store *Store) {
			store.Unreachable = func(testing.TB) Store {
				return Store{Catalog: catalogFunc(func(context.Context) (datamap.Catalog, error) {
					return datamap.Catalog{}, nil
				})}
			}
		}, found{"with an unreachable store, Catalog returned <nil>": {catalogReportsAStoreThatCannotBeReached}}},
	})
}
