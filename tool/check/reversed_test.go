package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// shipped adds rows of orders that refer to homes, too. The rows of homes belong to a user because the row of the user
// refers to them.
func shipped(w *world) {
	judgedCases["foreign-key-missing not in the other direction"].change(w)
	table := datamap.Table{
		Name: "shipments", PrimaryKey: []string{"id"}, Owned: true,
		Relations: []datamap.Relation{belongsTo("orders", "order_id")}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "order_id", Type: datamap.TypeBigInt},
			{Name: "home_id", Type: datamap.TypeBigInt},
		},
	}
	live := liveOf(table)
	live.ForeignKeys = append(live.ForeignKeys, foreignKey("home_id", "homes", datamap.ActionNone))
	w.tables, w.catalog.Tables = append(w.tables, table), append(w.catalog.Tables, live)
}

var reversedCases = cases{
	"path-missing not to an address of a user": {shipped, nil},
	"path-missing to an address that names its user": {
		func(w *world) {
			shipped(w)
			w.table("homes").Relations = []datamap.Relation{belongsTo("users", "user_id")}
			w.addToBoth("homes", datamap.Column{Name: "user_id", Type: datamap.TypeBigInt})
			w.live("homes").ForeignKeys = []datamap.CatalogForeignKey{foreignKey("user_id", "users", datamap.ActionNone)}
			w.live("homes").Indexes = append(w.live("homes").Indexes, datamap.CatalogIndex{Columns: []string{"user_id"}})
		}, []string{"path-missing shipments.home_id home_id_fkey"},
	},
	"path-missing to an address of a user that also names its user": {
		func(w *world) {
			shipped(w)
			relations := append(w.table("homes").Relations, belongsTo("users", "user_id"))
			for i := range relations {
				relations[i].Path, relations[i].Name = true, relations[i].Columns[0]
			}
			w.table("homes").Relations = relations
			w.field("homes", "street").Personal.Via = "id"
			w.addToBoth("homes", datamap.Column{Name: "user_id", Type: datamap.TypeBigInt})
			w.live("homes").ForeignKeys = []datamap.CatalogForeignKey{foreignKey("user_id", "users", datamap.ActionNone)}
			w.live("homes").Indexes = append(w.live("homes").Indexes, datamap.CatalogIndex{Columns: []string{"user_id"}})
		}, []string{"path-missing shipments.home_id home_id_fkey"},
	},
}
