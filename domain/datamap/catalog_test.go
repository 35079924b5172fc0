package datamap_test

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestATableOfTheCatalogIsFoundByTheNamesOfADataMap(t *testing.T) {
	users := []datamap.CatalogColumn{{Name: "Email"}}
	catalog := datamap.Catalog{Tables: []datamap.CatalogTable{
		{Name: "users", Schema: "public", Columns: users},
		{Name: "shop.orders", Schema: "shop"},
		{Name: "Notes", Schema: "main", FoldsCase: true, Columns: users},
		{Name: "plain"},
	}}
	for name, want := range map[string]string{
		"users": "users", "public.users": "users", "shop.orders": "shop.orders", "plain": "plain",
		"notes": "Notes", "MAIN.NOTES": "Notes", "Users": "", "orders": "", ".plain": "", "other.users": "",
	} {
		if table, ok := catalog.Table(name); table.Name != want || ok != (want != "") {
			t.Errorf("%q is found as %q, want %q", name, table.Name, want)
		}
	}
	for name, want := range map[string]bool{"users": false, "Notes": true} {
		table, _ := catalog.Table(name)
		if _, ok := table.Column("email"); ok != want {
			t.Errorf("%s: found the column email: %v", name, ok)
		}
		if _, ok := table.Column("Email"); !ok {
			t.Errorf("%s: there is no column Email", name)
		}
	}
}

// The store refuses an erasure by these rules, and the lint reports it before.
func TestAViewShowsAllOnlyInItsPlainColumns(t *testing.T) {
	mapped := datamap.Table{Name: "people", Columns: []datamap.Column{{Name: "id"}, {Name: "email"}}}
	columns := []datamap.CatalogColumn{{Name: "ID"}, {Name: "email"}, {Name: "size", Derived: true}}
	derived := []datamap.CatalogColumn{{Name: "id"}, {Name: "Email", Derived: true}}
	for _, test := range []struct {
		live datamap.CatalogTable
		want bool
	}{
		{datamap.CatalogTable{Kind: datamap.KindView, FoldsCase: true, Columns: columns}, true},
		{datamap.CatalogTable{Kind: datamap.KindView, FoldsCase: true, Columns: derived}, false},
		{datamap.CatalogTable{Kind: datamap.KindView, Filtered: true, Columns: columns}, false},
		{datamap.CatalogTable{Kind: datamap.KindTable, Filtered: true, Columns: derived}, true},
	} {
		if got := test.live.ShowsAll(mapped); got != test.want {
			t.Errorf("%+v: %v", test.live, got)
		}
	}
}

func TestAColumnIsUnmappedUnlessTheDatabaseGeneratesIt(t *testing.T) {
	live := datamap.CatalogTable{FoldsCase: true, Columns: []datamap.CatalogColumn{
		{Name: "ID"}, {Name: "note"}, {Name: "words", Generated: true},
	}}
	mapped := datamap.Table{Columns: []datamap.Column{{Name: "id"}}}
	if names := live.Unmapped(mapped); !slices.Equal(names, []string{"note"}) {
		t.Errorf("got %q", names)
	}
	if column, ok := live.Mapped(mapped, "ID"); column.Name != "id" || !ok {
		t.Errorf("got %q, %v", column.Name, ok)
	}
}
