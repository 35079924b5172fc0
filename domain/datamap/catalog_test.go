package datamap_test

import (
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
