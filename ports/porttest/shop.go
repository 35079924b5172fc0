package porttest

import (
	"sync"

	"github.com/habeas-data/habeas/domain"
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
func DataMap() domain.DataMap { return dataMap() }

// dataMap builds the data map only once, because the cases often call DataMap.
var dataMap = sync.OnceValue(func() domain.DataMap {
	m, err := domain.NewDataMap(shop()...)
	if err != nil {
		panic(err) // the tests of the suites check the data map
	}
	return m
})

func shop() []domain.Table { return append(ownTables(), sharedTables()...) }

// ownTables returns the tables in which each row belongs to one person.
func ownTables() []domain.Table {
	column := func(name string, kind domain.ColumnType) domain.Column { return domain.Column{Name: name, Type: kind} }
	personal := func(
		name string, kind domain.ColumnType, category domain.Category, strategy domain.Strategy,
	) domain.Column {
		return domain.Column{Name: name, Type: kind, Personal: &domain.Annotation{Category: category, Strategy: strategy}}
	}
	ofPerson := domain.Relation{
		Columns: []string{"tenant", "person"}, Path: true,
		References: "people", ReferencedColumns: []string{"tenant", "number"},
	}
	owner := []domain.Column{
		column("id", domain.TypeBigInt), column("tenant", domain.TypeText), column("person", domain.TypeBigInt),
	}

	name := personal("name", domain.TypeText, domain.CategoryIdentity, domain.StrategyAnonymize)
	name.Length = 40
	email := personal("email", domain.TypeText, domain.CategoryContact, domain.StrategyAnonymize)
	email.Personal.Basis, email.Personal.Purpose = domain.BasisContract, "account"
	nickname := personal("nickname", domain.TypeText, domain.CategoryIdentity, domain.StrategyAnonymize)
	nickname.Surrogate = "it's ?gone"
	token := personal("token", domain.TypeUUID, domain.CategoryTechnical, domain.StrategyAnonymize)
	token.Personal.Export = domain.ExportYes
	people := domain.Table{
		Name: "people", PrimaryKey: []string{"tenant", "number"}, SubjectKey: []string{"tenant", "number"},
		Columns: []domain.Column{
			column("tenant", domain.TypeText), column("number", domain.TypeBigInt), name, email, nickname,
			personal("born", domain.TypeTime, domain.CategorySpecial, domain.StrategyAnonymize),
			personal("score", domain.TypeNumber, domain.CategoryFinancial, domain.StrategyAnonymize),
			personal("level", domain.TypeSmallInt, domain.CategoryBehavioral, domain.StrategyAnonymize),
			personal("visits", domain.TypeInteger, domain.CategoryBehavioral, domain.StrategyAnonymize),
			personal("active", domain.TypeBoolean, domain.CategoryTechnical, domain.StrategyAnonymize),
			token,
			personal("settings", domain.TypeJSON, domain.CategoryTechnical, domain.StrategyAnonymize),
			personal("photo", domain.TypeBytes, domain.CategoryIdentity, domain.StrategyAnonymize),
			column("remark", domain.TypeText),
		},
	}
	people.Columns = append(people.Columns, columnsWithRules()...)
	createdAt := column("created_at", domain.TypeTime)
	people.Columns = append(people.Columns, createdAt)

	street := personal("street", domain.TypeText, domain.CategoryLocation, domain.StrategyDelete)
	body := personal("body", domain.TypeText, domain.CategoryCommunication, domain.StrategyDelete)
	note := personal("note", domain.TypeText, domain.CategoryCommunication, domain.StrategyAnonymize)
	engraving := personal("engraving", domain.TypeText, domain.CategorySpecial, domain.StrategyAnonymize)
	engraving.Length = 20 // shorter than a surrogate
	street.Personal.Ref, body.Personal.Ref, engraving.Personal.Ref = atlas, media, media

	address := personal("address", domain.TypeText, domain.CategoryFinancial, domain.StrategyRetain)
	address.Personal.Reason, address.Personal.Since = "tax law", "issued_at"
	address.Personal.Retain = domain.Period{Years: 10}
	address.Personal.Ref = media
	phone := personal("phone", domain.TypeText, domain.CategoryContact, domain.StrategyAnonymize)

	with := func(more ...domain.Column) []domain.Column { return append(owner[:len(owner):len(owner)], more...) }
	return []domain.Table{
		people,
		{
			Name: "addresses", PrimaryKey: []string{"id"}, Owned: true,
			Relations: []domain.Relation{ofPerson}, Columns: with(street),
		},
		{
			Name: "messages", PrimaryKey: []string{"id"}, Owned: true,
			Relations: []domain.Relation{ofPerson, {
				Columns: []string{"reply_to"}, References: "messages", ReferencedColumns: []string{"id"},
			}},
			Columns: with(column("reply_to", domain.TypeBigInt), body, createdAt),
		},
		{
			Name: "orders", PrimaryKey: []string{"id"},
			Relations: []domain.Relation{ofPerson}, Columns: with(note, column("status", domain.TypeText), createdAt),
		},
		{
			Name: "order_lines", PrimaryKey: []string{"order_id", "line"},
			Relations: []domain.Relation{
				{Columns: []string{"order_id"}, References: "orders", ReferencedColumns: []string{"id"}},
			},
			Columns: []domain.Column{column("order_id", domain.TypeBigInt), column("line", domain.TypeInteger), engraving},
		},
		{
			Name: "invoices", PrimaryKey: []string{"id"},
			Relations: []domain.Relation{ofPerson}, Columns: with(address, phone, column("issued_at", domain.TypeTime)),
		},
	}
}
