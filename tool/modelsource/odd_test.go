package modelsource_test

import "github.com/habeas-data/habeas/domain"

// oddTables returns a data map of rare cases. The names of its tables and columns differ from the Go names in the
// models.
func oddTables() []domain.Table {
	text, bigint := domain.TypeText, domain.TypeBigInt
	personal := func(name string, a domain.Annotation) domain.Column {
		if a.Category == "" {
			a.Category = domain.CategoryContact
		}
		return domain.Column{Name: name, Type: text, Personal: &a}
	}
	empty := personal("nick-name", domain.Annotation{Strategy: domain.StrategyAnonymize, Basis: domain.BasisConsent})
	empty.Surrogate = domain.EmptySurrogate
	quoted := personal("email", domain.Annotation{Purpose: "log in, \"mail\" and `more`, it's all"})
	quoted.Surrogate = "it's {}, erased"
	file := personal("picture", domain.Annotation{Strategy: domain.StrategyNull, Ref: "media", Export: domain.ExportNo})
	return []domain.Table{
		{
			Name: "crm.people", PrimaryKey: []string{"tenant", "id"}, SubjectKey: []string{"tenant", "id"},
			Note: "The people.\nAll of them. DECIDE: one? DECIDE: two?",
			Columns: []domain.Column{
				{Name: "tenant", Type: text},
				{Name: "id", Type: bigint},
				quoted, empty, file,
				{Name: "userId", Type: bigint},
				{Name: "user_id", Type: bigint},
				{Name: "base_model", Type: text},
				{Name: "2nd_key", Type: text, NotPersonal: true},
				{Name: "名", Type: text},
				{Name: "api_urls", Type: domain.TypeArray},
				{Name: "sum", Type: text},
			},
			Relations: []domain.Relation{{
				Columns: []string{"userId"}, References: "crm.person", ReferencedColumns: []string{"id"},
			}},
		},
		{
			Name: "person", PrimaryKey: []string{"id"},
			Columns: []domain.Column{
				{Name: "id", Type: bigint},
				{Name: "from", Type: text},
				{Name: "tenant", Type: text},
				{Name: "writer", Type: bigint},
				{Name: "reader", Type: bigint},
				{Name: "kind", Type: text},
				{Name: "thing", Type: bigint},
				personal("body", domain.Annotation{Via: "the writer"}),
				personal("answer", domain.Annotation{Via: "reader, it"}),
				{Name: "state", Type: text},
			},
			Relations: []domain.Relation{
				{
					Name: "the writer", Columns: []string{"tenant", "writer"}, References: "crm.people",
					ReferencedColumns: []string{"tenant", "id"}, Path: true, OnErasure: domain.StrategyNull,
				},
				{
					Name: "reader", Columns: []string{"tenant", "reader"}, References: "crm.people",
					ReferencedColumns: []string{"tenant", "id"}, Path: true,
				},
				{
					Name: "it", Columns: []string{"tenant", "thing"}, References: "crm.people", Path: true,
					ReferencedColumns: []string{"tenant", "id"}, When: &domain.Condition{Column: "kind", Value: "it's, a person"},
				},
			},
		},
		{
			Name: "replies", PrimaryKey: []string{"id"}, Columns: []domain.Column{
				{Name: "id", Type: bigint},
				{Name: "person_id", Type: bigint},
				{Name: "reply_id", Type: bigint},
				personal("text", domain.Annotation{Via: "the writer,it"}), personal("text2", domain.Annotation{Via: "reader"}),
				{Name: "rank", Type: text},
			},
			Relations: []domain.Relation{
				{Columns: []string{"person_id"}, References: "person", ReferencedColumns: []string{"id"}},
				{Columns: []string{"reply_id"}, References: "replies", ReferencedColumns: []string{"id"}, SetsNull: true},
			},
		},
	}
}

// oddCatalog returns a schema that fits the data map of oddTables.
func oddCatalog() domain.Catalog {
	var catalog domain.Catalog
	for _, table := range oddTables() {
		live := domain.CatalogTable{Name: table.Name, Kind: domain.KindTable, PrimaryKey: table.PrimaryKey}
		for _, c := range table.Columns {
			live.Columns = append(live.Columns, domain.CatalogColumn{
				Name: c.Name, Type: c.Type, Declared: map[domain.ColumnType]string{
					domain.TypeText: "text", domain.TypeBigInt: "bigint", domain.TypeArray: "integer[]",
				}[c.Type],
			})
		}
		catalog.Tables = append(catalog.Tables, live)
	}
	nullable := map[string][]string{"crm.people": {"picture", "userId"}, "person": {"writer"}, "replies": {"reply_id"}}
	for i, table := range catalog.Tables {
		for j, c := range table.Columns {
			for _, name := range nullable[table.Name] {
				catalog.Tables[i].Columns[j].Nullable = c.Name == name || catalog.Tables[i].Columns[j].Nullable
			}
		}
	}
	people := catalog.Tables[0].Columns
	people[len(people)-1].Generated = true
	people[len(people)-4].Declared, people[len(people)-4].Type = "interval", ""
	catalog.Tables[0].Uniques = []domain.CatalogUnique{
		{Name: "once", Columns: []string{"tenant", "email"}},
		{Name: "twice", Columns: []string{"nick-name"}},
		{Name: "some", Columns: []string{"user_id"}, Partial: true},
	}
	return catalog
}
