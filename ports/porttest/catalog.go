package porttest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestCatalogReader checks that Store.Catalog keeps the promises of ports.CatalogReader on the tables of DataMap.
// TestStore does not run this suite, because a store works without a catalog reader.
func TestCatalogReader(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.Hold(t, catalogPromises, h, h.Waive)
}

var catalogPromises = []promise.Promise[StoreHarness]{
	that(catalogListsTheTables, "Catalog lists the application's tables, sorted by name, without the tables of habeas."),
	that(catalogHasTheColumns, "Columns are in the order of the table, with a matching type."),
	that(catalogHasThePrimaryKeys, "Primary keys list their columns in the order of the key."),
	that(catalogHasTheForeignKeys, "Foreign keys list their columns in order, and have the action of ON DELETE."),
	that(catalogKeysNameColumnsOfTheirTable, "Constraints and indexes name columns of their table."),
	that(catalogHoldsNoValue, "Catalog contains no value of a row, and changes nothing."),
	that(catalogBelongsToItsCaller, "The caller may change the returned catalog, and Catalog is safe for concurrent use."),
	that(catalogDecidesItsConstraints, "Satisfies says for each row whether it satisfies a constraint of the table."),
	that(catalogDecidesNothingElse, "Satisfies decides nothing about constraints that the table does not have."),
	that(catalogEndsWithItsContext, "Catalog and Satisfies return when their context has ended."),
	that(catalogReportsAStoreThatCannotBeReached,
		"Catalog and Satisfies return ErrUnavailable if the store cannot be reached."),
}

func catalogOf(t testing.TB, store Store) ports.CatalogReader {
	t.Helper()
	must(t, store.Catalog != nil, "the harness is incomplete: Catalog is required")
	return store.Catalog
}

func (h StoreHarness) catalog(t testing.TB) datamap.Catalog {
	t.Helper()
	return h.open(t).catalog(t)
}

func (s Store) catalog(t testing.TB) datamap.Catalog {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.patience)
	defer cancel()
	catalog, err := catalogOf(t, s).Catalog(ctx)
	must(t, err == nil, "the catalog could not be read: %v", err)
	return catalog
}

// eachTable calls fn for each table of DataMap. The argument want is the table of DataMap, and the argument got is the
// table with the same name in the catalog of the store.
func eachTable(t testing.TB, h StoreHarness, fn func(want datamap.Table, got datamap.CatalogTable)) {
	t.Helper()
	catalog := h.catalog(t)
	for _, table := range DataMap().Tables() {
		got, ok := catalog.Table(table.Name)
		if !ok {
			t.Errorf("the catalog has no table %s", table.Name)
			continue
		}
		fn(table, got)
	}
}

func catalogListsTheTables(t testing.TB, h StoreHarness) {
	var got, want []string
	for _, table := range h.catalog(t).Tables {
		if strings.Contains(table.Name, ".") {
			continue // a table of another schema, which may belong to another case
		}
		got = append(got, table.Name)
		assert(t, table.Kind == datamap.KindTable, "%s is a %s, want a table", table.Name, table.Kind)
		assert(t, table.Rows >= -1, "%s has %d rows", table.Name, table.Rows)
		assert(t, len(table.Missing) == 0 && !table.RowSecurity, "%s is listed as unreadable", table.Name)
	}
	for _, table := range DataMap().Tables() {
		want = append(want, table.Name)
	}
	slices.Sort(want)
	assert(t, slices.Equal(got, want), "the tables are %v, want %v", got, want)
}

func catalogHasTheColumns(t testing.TB, h StoreHarness) {
	eachTable(t, h, func(want datamap.Table, got datamap.CatalogTable) {
		must(t, len(got.Columns) == len(want.Columns), "%s has %d columns, want %d", want.Name, len(got.Columns),
			len(want.Columns))
		for i, column := range want.Columns {
			live := got.Columns[i]
			must(t, live.Name == column.Name, "%s has the column %s, want %s", want.Name, live.Name, column.Name)
			assert(t, canHold(column.Type, live.Type) && live.Declared != "",
				"%s.%s is %q (%s), want %q", want.Name, column.Name,
				live.Type, live.Declared, column.Type)
			assert(t, live.Length == column.Length, "%s.%s takes %d characters, want %d", want.Name, column.Name, live.Length,
				column.Length)
			inKey := slices.Contains(want.PrimaryKey, column.Name)
			assert(t, live.Nullable != inKey, "%s.%s: Nullable is %v", want.Name, column.Name, live.Nullable)
			assert(t, !live.Generated && len(live.Missing) == 0, "%s.%s is listed as not writable", want.Name, column.Name)
		}
	})
}

// canHold reports whether a database column of type dbType can hold every value of type t. For example, a text column
// can hold every UUID.
func canHold(t, dbType datamap.ColumnType) bool {
	whole := []datamap.ColumnType{datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt}
	at := slices.Index(whole, t)
	return t == dbType || at >= 0 && slices.Index(whole, dbType) >= at || t == datamap.TypeUUID &&
		dbType == datamap.TypeText
}

func catalogHasThePrimaryKeys(t testing.TB, h StoreHarness) {
	eachTable(t, h, func(want datamap.Table, got datamap.CatalogTable) {
		assert(t, slices.Equal(got.PrimaryKey, want.PrimaryKey), "the primary key of %s is %v, want %v", want.Name,
			got.PrimaryKey, want.PrimaryKey)
	})
}

func catalogHasTheForeignKeys(t testing.TB, h StoreHarness) {
	describe := func(columns []string, references string, referenced []string) string {
		return strings.Join(columns, "+") + " -> " + references + " " + strings.Join(referenced, "+")
	}
	eachTable(t, h, func(table datamap.Table, live datamap.CatalogTable) {
		var got, want []string
		for _, key := range live.ForeignKeys {
			got = append(got, describe(key.Columns, key.References, key.Referenced))
			assert(t, key.OnDelete == datamap.ActionNone && !key.Deferrable, "%s: %s is %q, or deferrable", table.Name,
				got[len(got)-1], key.OnDelete)
		}
		for _, relation := range table.Relations {
			if relation.When == nil {
				want = append(want, describe(relation.Columns, relation.References, relation.ReferencedColumns))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		assert(t, slices.Equal(got, want), "the foreign keys of %s are %q, want %q", table.Name, got, want)
	})
}

func catalogKeysNameColumnsOfTheirTable(t testing.TB, h StoreHarness) {
	for _, table := range h.catalog(t).Tables {
		check := func(what string, names []string) {
			assert(t, len(names) > 0, "%s of %s has no columns", what, table.Name)
			for _, name := range names {
				_, ok := table.Column(name)
				assert(t, ok, "%s of %s names the column %q, which is not listed", what, table.Name, name)
			}
		}
		for _, index := range table.Indexes {
			check("the index "+index.Name, index.Columns)
		}
		for _, unique := range table.Uniques {
			check("the unique constraint "+unique.Name, unique.Columns)
		}
	}
}

func catalogHoldsNoValue(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.Rows(t, "people")
	text, err := json.Marshal(s.catalog(t))
	must(t, err == nil, "the catalog cannot be encoded as JSON: %v", err)
	for _, value := range []string{zoe.says("name"), zoe.says("email"), zoe.says("remark")} {
		assert(t, !strings.Contains(string(text), value), "the catalog holds a value of a row")
	}
	assert(t, len(s.Rows(t, "people")) == len(before), "the number of rows has changed")
}

func catalogBelongsToItsCaller(t testing.TB, h StoreHarness) {
	store := h.open(t)
	// The comparison ignores CatalogTable.Rows, because the database may update this estimate at any time.
	encode := func(c datamap.Catalog) string {
		c.Tables = slices.Clone(c.Tables) // a broken store returns one slice to all callers
		for i := range c.Tables {
			c.Tables[i].Rows = 0
		}
		text, err := json.Marshal(c)
		assert(t, err == nil, "the catalog cannot be encoded as JSON: %v", err)
		return string(text)
	}
	want := encode(store.catalog(t))
	catalog := store.catalog(t)
	for i := range catalog.Tables {
		catalog.Tables[i].Name = "changed"
		for j := range catalog.Tables[i].PrimaryKey {
			catalog.Tables[i].PrimaryKey[j] = "changed"
		}
		for _, key := range catalog.Tables[i].ForeignKeys {
			key.Columns[0], key.Referenced[0] = "changed", "changed"
		}
	}
	var callers sync.WaitGroup
	for range goroutines {
		callers.Go(func() {
			assert(t, encode(store.catalog(t)) == want, "the catalog has changed")
		})
	}
	callers.Wait()
}

func catalogEndsWithItsContext(t testing.TB, h StoreHarness) {
	store := h.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := catalogOf(t, store).Catalog(ctx)
	assert(t, errors.Is(err, context.Canceled), "in a context that has ended, Catalog returned %v", err)
	_, err = catalogOf(t, store).Satisfies(ctx, "addresses", notOfTheTable(), streets("Main Street"))
	assert(t, errors.Is(err, context.Canceled), "in a context that has ended, Satisfies returned %v", err)
}

// A store without a database is always reachable, so Store.Unreachable may be nil. The case then checks nothing.
func catalogReportsAStoreThatCannotBeReached(t testing.TB, h StoreHarness) {
	store := h.open(t)
	if store.Unreachable == nil {
		return
	}
	unreachable := catalogOf(t, store.Unreachable(t))
	_, err := unreachable.Catalog(t.Context())
	assert(t, errors.Is(err, domain.ErrUnavailable), "with an unreachable store, Catalog returned %v", err)
	_, err = unreachable.Satisfies(t.Context(), "addresses", notOfTheTable(), streets("Main Street"))
	assert(t, errors.Is(err, domain.ErrUnavailable), "with an unreachable store, Satisfies returned %v", err)
}
