package check_test

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// received adds a second reference to users to orders.
func received(w *world) {
	w.addToBoth("orders", datamap.Column{Name: "recipient_id", Type: datamap.TypeBigInt})
	w.live("orders").ForeignKeys = append(
		w.live("orders").ForeignKeys, foreignKey("recipient_id", "users", datamap.ActionNone))
}

// kindred adds a column beside the relation of orders, which has the given name and no foreign key.
func kindred(relation, kind string) func(*world) {
	return func(w *world) {
		w.addToBoth("orders", datamap.Column{Name: kind, Type: datamap.TypeText})
		if relation != "user_id" {
			w.addToBoth("orders", datamap.Column{Name: relation, Type: datamap.TypeBigInt})
		}
		w.table("orders").Relations = []datamap.Relation{belongsTo("users", relation)}
		w.live("orders").ForeignKeys = nil
		w.live("orders").Indexes = append(w.live("orders").Indexes, datamap.CatalogIndex{Columns: []string{relation}})
	}
}

var pathCases = cases{
	"path-missing": {received, []string{"path-missing orders.recipient_id recipient_id_fkey"}},
	"path-missing of a relation": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{Name: "recipient_id", Type: datamap.TypeBigInt})
			w.table("orders").Relations[0].Path = true
			w.table("orders").Relations = append(w.table("orders").Relations, belongsTo("users", "recipient_id"))
		}, []string{"path-missing orders.recipient_id"},
	},
	"path-missing not if a person saw it": {
		both(received, func(w *world) {
			w.decisions = []datamap.Decision{{Object: "orders", Seen: []string{"recipient_id"}, Answer: "keep"}}
		}), []string{"decision-contradicted orders"},
	},
	"path-missing not if it is a path": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{Name: "recipient_id", Type: datamap.TypeBigInt})
			relations := append(w.table("orders").Relations, belongsTo("users", "recipient_id"))
			for i := range relations {
				relations[i].Path, relations[i].Name = true, relations[i].Columns[0]
			}
			w.table("orders").Relations = relations
			w.field("orders", "address").Personal.Via = "user_id"
			*w.live("orders") = liveOf(*w.table("orders"))
		}, nil,
	},
	"path-missing not to another table": {
		func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "order_id", Type: datamap.TypeBigInt})
			w.table("sessions").Relations[0].Path = true
			w.table("sessions").Relations = slices.Concat(w.table("sessions").Relations,
				[]datamap.Relation{belongsTo("orders", "order_id")})
		}, nil,
	},
	"condition-missing": {
		kindred("owner_id", "owner_type"), []string{"condition-missing orders.owner_id"},
	},
	"condition-missing not of the kind of the row": {
		kindred("user_id", "user_type"), []string{"foreign-key-missing orders.user_id"},
	},
}
