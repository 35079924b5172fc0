package porttest

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// sharedTables returns the tables in which one row can belong to several people.
func sharedTables() []datamap.Table {
	column := func(name string, kind datamap.ColumnType) datamap.Column {
		return datamap.Column{Name: name, Type: kind}
	}
	of := func(via, name string) datamap.Column {
		return datamap.Column{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryCommunication, Strategy: domain.StrategyAnonymize, Via: via,
		}}
	}
	path := func(name, column string, erasure domain.Strategy) datamap.Relation {
		return datamap.Relation{
			Name: name, Columns: []string{"tenant", column}, Path: true, OnErasure: erasure,
			References: "people", ReferencedColumns: []string{"tenant", "number"},
		}
	}
	when := func(relation datamap.Relation, value string) datamap.Relation {
		relation.When = &datamap.Condition{Column: "target_type", Value: value}
		return relation
	}
	id, tenant := column("id", datamap.TypeBigInt), column("tenant", datamap.TypeText)
	price := of("Giver", "price")
	price.Length = 16 // too short to recognize a surrogate
	price.Personal.Strategy, price.Personal.Reason = domain.StrategyRetain, "tax law"
	price.Personal.Retain, price.Personal.Since = datamap.Period{Years: 10}, "sent_at"
	paid := of("Giver,Receiver", "paid")
	paid.Type = datamap.TypeBoolean
	erased := func(via, name string) datamap.Column {
		column := of(via, name)
		column.Personal.Strategy = domain.StrategyErase
		return column
	}
	wish, thanks := of("Giver", "wish"), of("Receiver", "thanks")
	wish.Personal.Ref, thanks.Personal.Ref = cards, cards
	return []datamap.Table{
		{
			Name: "gifts", PrimaryKey: []string{"id"},
			Relations: []datamap.Relation{path("Giver", "giver", ""), path("Receiver", "receiver", domain.StrategyNull)},
			Columns: []datamap.Column{
				id, tenant, column("giver", datamap.TypeBigInt), column("receiver", datamap.TypeBigInt), wish, thanks,
				of("Giver,Receiver", "motto"), paid, price, column("sent_at", datamap.TypeTime),
			},
		},
		{
			Name: "wraps", PrimaryKey: []string{"gift_id", "line"},
			Relations: []datamap.Relation{
				{Columns: []string{"gift_id"}, References: "gifts", ReferencedColumns: []string{"id"}},
			},
			Columns: []datamap.Column{
				column("gift_id", datamap.TypeBigInt), column("line", datamap.TypeInteger), erased("Giver", "color"),
				// All personal columns of this table have the strategy erase. An erasure nevertheless overwrites its rows instead
				// of deleting them, because two paths connect them to people.
				erased("Receiver", "knot"),
			},
		},
		{
			Name: "follows", PrimaryKey: []string{"id"},
			Relations: []datamap.Relation{
				path("Follower", "follower", domain.StrategyDelete), path("Followed", "followed", domain.StrategyDelete),
			},
			Columns: []datamap.Column{
				id, tenant, column("follower", datamap.TypeBigInt), column("followed", datamap.TypeBigInt),
				column("remark", datamap.TypeText),
			},
		},
		{
			Name: "remarks", PrimaryKey: []string{"id"},
			Relations: []datamap.Relation{
				when(path("Person", "target", domain.StrategyDelete), "person"),
				when(datamap.Relation{
					Name: "Order", Columns: []string{"target"}, References: "orders", ReferencedColumns: []string{"id"},
					Path: true, OnErasure: domain.StrategyNull,
				}, "order"),
			},
			Columns: []datamap.Column{
				id, column("target_type", datamap.TypeText), tenant, column("target", datamap.TypeBigInt),
				erased("Person,Order", "body"),
			},
		},
	}
}
