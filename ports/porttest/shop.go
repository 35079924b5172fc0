package porttest

import (
	"sync"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// DataMap describes the application in the cases of the storage ports: a shop with many tenants. The tenant and the
// number identify a customer. The harness of a store must create the following tables with the named types, for example
// in SQL. Every relation without a condition is a foreign key without ON DELETE.
//
//	people       tenant text, number bigint, name text (40 characters at most), email text, nickname text,
//	             born time, score number, level smallint, visits integer, active boolean, token uuid, settings json,
//	             photo bytes, remark text, mobile text, motto text, login text, badge text (12 characters at most),
//	             password_hash text, created_at time; primary key (tenant, number)
//	addresses    id bigint primary key, tenant text, person bigint, street text;
//	             (tenant, person) refers to people
//	messages     id bigint primary key, tenant text, person bigint, reply_to bigint, body text, created_at time;
//	             (tenant, person) refers to people, reply_to to messages
//	orders       id bigint primary key, tenant text, person bigint, note text, status text, created_at time;
//	             (tenant, person) refers to people
//	order_lines  order_id bigint, line integer, engraving text (20 characters at most); primary key (order_id, line);
//	             order_id refers to orders
//	invoices     id bigint primary key, tenant text, person bigint, address text, phone text, issued_at time;
//	             (tenant, person) refers to people
//	gifts        id bigint primary key, tenant text, giver bigint, receiver bigint, wish text, thanks text, motto text,
//	             paid boolean, price text (16 characters at most), sent_at time;
//	             (tenant, giver) and (tenant, receiver) refer to people
//	wraps        gift_id bigint, line integer, color text, knot text; primary key (gift_id, line);
//	             gift_id refers to gifts
//	follows      id bigint primary key, tenant text, follower bigint, followed bigint, remark text;
//	             (tenant, follower) and (tenant, followed) refer to people
//	remarks      id bigint primary key, target_type text, tenant text, target bigint, body text;
//	             no foreign key, because target_type selects the table of target
//
// All columns except primary keys may be null. A database with constraints can have CHECK (street <> 'refused') in
// addresses: TestCatalogReader then tests that the database evaluates it.
func DataMap() datamap.DataMap { return dataMap() }

// dataMap builds the data map only once, because the cases often call DataMap.
var dataMap = sync.OnceValue(func() datamap.DataMap {
	m, err := datamap.NewDataMap(shop()...)
	if err != nil {
		panic(err) // the tests of the suites check the data map
	}
	return m
})

func shop() []datamap.Table { return append(ownTables(), sharedTables()...) }

// ownTables returns the tables in which each row belongs to one person.
func ownTables() []datamap.Table {
	column := func(name string, kind datamap.ColumnType) datamap.Column {
		return datamap.Column{Name: name, Type: kind}
	}
	personal := func(
		name string, kind datamap.ColumnType, category domain.Category, strategy domain.Strategy,
	) datamap.Column {
		return datamap.Column{Name: name, Type: kind, Personal: &datamap.Annotation{Category: category, Strategy: strategy}}
	}
	ofPerson := datamap.Relation{
		Columns: []string{"tenant", "person"}, Path: true,
		References: "people", ReferencedColumns: []string{"tenant", "number"},
	}
	owner := []datamap.Column{
		column("id", datamap.TypeBigInt), column("tenant", datamap.TypeText), column("person", datamap.TypeBigInt),
	}

	name := personal("name", datamap.TypeText, domain.CategoryIdentity, domain.StrategyAnonymize)
	name.Length = 40
	email := personal("email", datamap.TypeText, domain.CategoryContact, domain.StrategyAnonymize)
	email.Personal.Basis, email.Personal.Purpose = domain.BasisContract, "account"
	nickname := personal("nickname", datamap.TypeText, domain.CategoryIdentity, domain.StrategyAnonymize)
	nickname.Surrogate, nickname.Always = "it's ?gone", true
	token := personal("token", datamap.TypeUUID, domain.CategoryTechnical, domain.StrategyAnonymize)
	token.Personal.Export = datamap.ExportYes
	people := datamap.Table{
		Name: "people", PrimaryKey: []string{"tenant", "number"}, SubjectKey: []string{"tenant", "number"},
		Columns: []datamap.Column{
			column("tenant", datamap.TypeText), column("number", datamap.TypeBigInt), name, email, nickname,
			personal("born", datamap.TypeTime, domain.CategorySpecial, domain.StrategyAnonymize),
			personal("score", datamap.TypeNumber, domain.CategoryFinancial, domain.StrategyAnonymize),
			personal("level", datamap.TypeSmallInt, domain.CategoryBehavioral, domain.StrategyAnonymize),
			personal("visits", datamap.TypeInteger, domain.CategoryBehavioral, domain.StrategyAnonymize),
			personal("active", datamap.TypeBoolean, domain.CategoryTechnical, domain.StrategyAnonymize),
			token,
			personal("settings", datamap.TypeJSON, domain.CategoryTechnical, domain.StrategyAnonymize),
			personal("photo", datamap.TypeBytes, domain.CategoryIdentity, domain.StrategyAnonymize),
			column("remark", datamap.TypeText),
		},
	}
	people.Columns = append(people.Columns, columnsWithRules()...)
	createdAt := column("created_at", datamap.TypeTime)
	people.Columns = append(people.Columns, createdAt)

	street := personal("street", datamap.TypeText, domain.CategoryLocation, domain.StrategyDelete)
	body := personal("body", datamap.TypeText, domain.CategoryCommunication, domain.StrategyDelete)
	note := personal("note", datamap.TypeText, domain.CategoryCommunication, domain.StrategyAnonymize)
	engraving := personal("engraving", datamap.TypeText, domain.CategorySpecial, domain.StrategyAnonymize)
	engraving.Length = 20 // shorter than a surrogate
	street.Personal.Ref, body.Personal.Ref, engraving.Personal.Ref = atlas, media, media

	address := personal("address", datamap.TypeText, domain.CategoryFinancial, domain.StrategyRetain)
	address.Personal.Reason, address.Personal.Since = "tax law", "issued_at"
	address.Personal.Retain = datamap.Period{Years: 10}
	address.Personal.Ref = media
	phone := personal("phone", datamap.TypeText, domain.CategoryContact, domain.StrategyAnonymize)

	with := func(more ...datamap.Column) []datamap.Column { return append(owner[:len(owner):len(owner)], more...) }
	return []datamap.Table{
		people,
		{
			Name: "addresses", PrimaryKey: []string{"id"}, Owned: true,
			Relations: []datamap.Relation{ofPerson}, Columns: with(street),
		},
		{
			Name: "messages", PrimaryKey: []string{"id"}, Owned: true,
			Relations: []datamap.Relation{ofPerson, {
				Columns: []string{"reply_to"}, References: "messages", ReferencedColumns: []string{"id"},
			}},
			Columns: with(column("reply_to", datamap.TypeBigInt), body, createdAt),
		},
		{
			Name: "orders", PrimaryKey: []string{"id"},
			Relations: []datamap.Relation{ofPerson}, Columns: with(note, column("status", datamap.TypeText), createdAt),
		},
		{
			Name: "order_lines", PrimaryKey: []string{"order_id", "line"},
			Relations: []datamap.Relation{
				{Columns: []string{"order_id"}, References: "orders", ReferencedColumns: []string{"id"}},
			},
			Columns: []datamap.Column{column("order_id", datamap.TypeBigInt), column("line", datamap.TypeInteger), engraving},
		},
		{
			Name: "invoices", PrimaryKey: []string{"id"},
			Relations: []datamap.Relation{ofPerson}, Columns: with(address, phone, column("issued_at", datamap.TypeTime)),
		},
	}
}
