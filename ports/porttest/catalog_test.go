package porttest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// catalogWith implements Catalog with a function, and the other methods with another reader.
type catalogWith struct {
	ports.CatalogReader
	read func(ctx context.Context) (datamap.Catalog, error)
}

func (c catalogWith) Catalog(ctx context.Context) (datamap.Catalog, error) { return c.read(ctx) }

func (nowhere) Catalog(context.Context) (datamap.Catalog, error) {
	return datamap.Catalog{}, errNowhere
}

func (nowhere) Satisfies(
	context.Context, string, datamap.CatalogCheck, []map[string]any,
) ([]datamap.Verdict, error) {
	return nil, errNowhere
}

// decider implements Satisfies with a function, and the other methods with another reader.
type decider struct {
	ports.CatalogReader
	decide func(ctx context.Context, check datamap.CatalogCheck, rows []map[string]any) ([]datamap.Verdict, error)
}

func (d decider) Satisfies(
	ctx context.Context, _ string, check datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	return d.decide(ctx, check, rows)
}

// decides returns a function that makes a store defective: its Satisfies returns the result of decide for each row. The
// tables of the store have the constraint of porttest.DataMap.
func decides(decide func(check datamap.CatalogCheck, row map[string]any) datamap.Verdict) func(*Store) {
	return func(store *Store) {
		changesTables(func(table *datamap.CatalogTable) {
			if table.Name == "addresses" {
				table.Checks = []datamap.CatalogCheck{{Columns: []string{"street"}, Text: "CHECK (street <> 'refused')"}}
			}
		})(store)
		store.Catalog = decider{store.Catalog, func(
			ctx context.Context, check datamap.CatalogCheck, rows []map[string]any,
		) (verdicts []datamap.Verdict, err error) {
			for _, row := range rows {
				if verdict := decide(check, row); verdict != "" {
					verdicts = append(verdicts, verdict)
				}
			}
			return verdicts, ctx.Err()
		}}
	}
}

// evaluated is a correct result of Satisfies.
func evaluated(check datamap.CatalogCheck, row map[string]any) datamap.Verdict {
	street, known := row["street"]
	switch {
	case !known || check.Text != "CHECK (street <> 'refused')":
		return datamap.VerdictUndecided
	case street == "refused":
		return datamap.VerdictFails
	default:
		return datamap.VerdictHolds
	}
}

// readsCatalog returns a function that makes a store defective: its Catalog returns the result of read. The parameter
// good is the correct CatalogReader.
func readsCatalog(read func(ctx context.Context, good ports.CatalogReader) (datamap.Catalog, error)) func(*Store) {
	return func(store *Store) {
		good := store.Catalog
		store.Catalog = catalogWith{good, func(ctx context.Context) (datamap.Catalog, error) { return read(ctx, good) }}
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
	promise.ExpectDefects(t, catalogPromises, brokenStore, defects{
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
		"constraints that always hold": {decides(func(check datamap.CatalogCheck, row map[string]any) datamap.Verdict {
			if verdict := evaluated(check, row); verdict != datamap.VerdictFails {
				return verdict
			}
			return datamap.VerdictHolds
		}), found{"the verdicts about the constraint": {catalogDecidesItsConstraints}}},
		"constraints that NULL violates": {decides(func(check datamap.CatalogCheck, row map[string]any) datamap.Verdict {
			if street, known := row["street"]; known && street == nil {
				return datamap.VerdictFails
			}
			return evaluated(check, row)
		}), found{"the verdicts about the constraint": {catalogDecidesItsConstraints}}},
		"constraints of columns without a value": {
			decides(func(check datamap.CatalogCheck, row map[string]any) datamap.Verdict {
				if _, known := row["street"]; !known {
					return datamap.VerdictHolds
				}
				return evaluated(check, row)
			}),
			found{"the verdicts about the constraint": {catalogDecidesItsConstraints}},
		},
		"constraints of another table": {decides(func(check datamap.CatalogCheck, row map[string]any) datamap.Verdict {
			check.Text = "CHECK (street <> 'refused')"
			return evaluated(check, row)
		}), found{"the verdicts about another constraint": {catalogDecidesNothingElse}}},
		"verdicts that are left out": {decides(func(check datamap.CatalogCheck, row map[string]any) datamap.Verdict {
			if verdict := evaluated(check, row); verdict != datamap.VerdictUndecided {
				return verdict
			}
			return ""
		}), found{
			"the verdicts about the constraint":     {catalogDecidesItsConstraints},
			"the verdicts about another constraint": {catalogDecidesNothingElse},
		}},
		"constraints in a context that is ignored": {func(store *Store) {
			good := store.Catalog
			store.Catalog = decider{good, func(
				ctx context.Context, check datamap.CatalogCheck, rows []map[string]any,
			) ([]datamap.Verdict, error) {
				return good.Satisfies(context.WithoutCancel(ctx), "addresses", check, rows)
			}}
		}, found{"Satisfies returned <nil>": {catalogEndsWithItsContext}}},
		"constraints of an unreachable store": {func(store *Store) {
			store.Unreachable = func(testing.TB) Store {
				return Store{Catalog: decider{nowhere{}, func(
					context.Context, datamap.CatalogCheck, []map[string]any,
				) ([]datamap.Verdict, error) {
					return nil, nil
				}}}
			}
		}, found{"with an unreachable store, Satisfies returned <nil>": {catalogReportsAStoreThatCannotBeReached}}},
		"an unreachable store without tables": {func(store *Store) {
			store.Unreachable = func(testing.TB) Store {
				return Store{Catalog: catalogWith{nowhere{}, func(context.Context) (datamap.Catalog, error) {
					return datamap.Catalog{}, nil
				}}}
			}
		}, found{"with an unreachable store, Catalog returned <nil>": {catalogReportsAStoreThatCannotBeReached}}},
	})
}
