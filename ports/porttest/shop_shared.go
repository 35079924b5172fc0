package porttest

import "github.com/habeas-data/habeas/domain"

// sharedTables returns the tables in which one row can belong to several people.
func sharedTables() []domain.Table {
	column := func(name string, kind domain.ColumnType) domain.Column { return domain.Column{Name: name, Type: kind} }
	of := func(via, name string) domain.Column {
		return domain.Column{Name: name, Type: domain.TypeText, Personal: &domain.Annotation{
			Category: domain.CategoryCommunication, Strategy: domain.StrategyAnonymize, Via: via,
		}}
	}
	path := func(name, column string, erasure domain.Strategy) domain.Relation {
		return domain.Relation{
			Name: name, Columns: []string{"tenant", column}, Path: true, OnErasure: erasure,
			References: "people", ReferencedColumns: []string{"tenant", "number"},
		}
	}
	when := func(relation domain.Relation, value string) domain.Relation {
		relation.When = &domain.Condition{Column: "target_type", Value: value}
		return relation
	}
	id, tenant := column("id", domain.TypeBigInt), column("tenant", domain.TypeText)
	price := of("Giver", "price")
	price.Length = 16 // too short to recognize a surrogate
	price.Personal.Strategy, price.Personal.Reason = domain.StrategyRetain, "tax law"
	price.Personal.Retain, price.Personal.Since = domain.Period{Years: 10}, "sent_at"
	paid := of("Giver,Receiver", "paid")
	paid.Type = domain.TypeBoolean
	erased := func(via, name string) domain.Column {
		column := of(via, name)
		column.Personal.Strategy = domain.StrategyErase
		return column
	}
	return []domain.Table{
		{
			Name: "gifts", PrimaryKey: []string{"id"},
			Relations: []domain.Relation{path("Giver", "giver", ""), path("Receiver", "receiver", domain.StrategyNull)},
			Columns: []domain.Column{
				id, tenant, column("giver", domain.TypeBigInt), column("receiver", domain.TypeBigInt), of("Giver", "wish"),
				of("Receiver", "thanks"), of("Giver,Receiver", "motto"), paid, price,
				column("sent_at", domain.TypeTime),
			},
		},
		{
			Name: "wraps", PrimaryKey: []string{"gift_id", "line"},
			Relations: []domain.Relation{
				{Columns: []string{"gift_id"}, References: "gifts", ReferencedColumns: []string{"id"}},
			},
			Columns: []domain.Column{
				column("gift_id", domain.TypeBigInt), column("line", domain.TypeInteger), erased("Giver", "color"),
				// All personal columns of this table have the strategy erase. An erasure nevertheless overwrites its rows instead
				// of deleting them, because two paths connect them to people.
				erased("Receiver", "knot"),
			},
		},
		{
			Name: "follows", PrimaryKey: []string{"id"},
			Relations: []domain.Relation{
				path("Follower", "follower", domain.StrategyDelete), path("Followed", "followed", domain.StrategyDelete),
			},
			Columns: []domain.Column{
				id, tenant, column("follower", domain.TypeBigInt), column("followed", domain.TypeBigInt),
				column("remark", domain.TypeText),
			},
		},
		{
			Name: "remarks", PrimaryKey: []string{"id"},
			Relations: []domain.Relation{
				when(path("Person", "target", domain.StrategyDelete), "person"),
				when(domain.Relation{
					Name: "Order", Columns: []string{"target"}, References: "orders", ReferencedColumns: []string{"id"},
					Path: true, OnErasure: domain.StrategyNull,
				}, "order"),
			},
			Columns: []domain.Column{
				id, column("target_type", domain.TypeText), tenant, column("target", domain.TypeBigInt),
				erased("Person,Order", "body"),
			},
		},
	}
}
