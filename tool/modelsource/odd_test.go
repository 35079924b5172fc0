package modelsource_test

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// oddTables returns a data map of rare cases. The names of its tables and columns differ from the Go names in the
// models.
func oddTables() []datamap.Table {
	text, bigint := datamap.TypeText, datamap.TypeBigInt
	personal := func(name string, a datamap.Annotation) datamap.Column {
		if a.Category == "" {
			a.Category = domain.CategoryContact
		}
		return datamap.Column{Name: name, Type: text, Personal: &a}
	}
	empty := personal("nick-name", datamap.Annotation{Strategy: domain.StrategyAnonymize, Basis: domain.BasisConsent})
	empty.Surrogate = datamap.EmptySurrogate
	quoted := personal("email", datamap.Annotation{Purpose: "log in, \"mail\" and `more`, it's all"})
	quoted.Surrogate = "it's {}, erased"
	file := personal("picture", datamap.Annotation{Strategy: domain.StrategyNull, Ref: "media", Export: datamap.ExportNo})
	return []datamap.Table{
		{
			Name: "crm.people", PrimaryKey: []string{"tenant", "id"}, SubjectKey: []string{"tenant", "id"},
			Note: "The people.\nAll of them. DECIDE: one? DECIDE: two?",
			Columns: []datamap.Column{
				{Name: "tenant", Type: text},
				{Name: "id", Type: bigint},
				quoted, empty, file,
				{Name: "userId", Type: bigint},
				{Name: "user_id", Type: bigint},
				{Name: "base_model", Type: text},
				{Name: "2nd_key", Type: text, NotPersonal: true},
				{Name: "名", Type: text},
				{Name: "api_urls", Type: datamap.TypeArray},
				{Name: "sum", Type: text},
			},
			Relations: []datamap.Relation{{
				Columns: []string{"userId"}, References: "crm.person", ReferencedColumns: []string{"id"},
			}},
		},
		{
			Name: "person", PrimaryKey: []string{"id"},
			Columns: []datamap.Column{
				{Name: "id", Type: bigint},
				{Name: "from", Type: text},
				{Name: "tenant", Type: text},
				{Name: "writer", Type: bigint},
				{Name: "reader", Type: bigint},
				{Name: "kind", Type: text},
				{Name: "thing", Type: bigint},
				personal("body", datamap.Annotation{Via: "the writer"}),
				personal("answer", datamap.Annotation{Via: "reader, it"}),
				{Name: "state", Type: text},
			},
			Relations: []datamap.Relation{
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
					ReferencedColumns: []string{"tenant", "id"}, When: &datamap.Condition{Column: "kind", Value: "it's, a person"},
				},
			},
		},
		{
			Name: "replies", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
				{Name: "id", Type: bigint},
				{Name: "person_id", Type: bigint},
				{Name: "reply_id", Type: bigint},
				personal("text", datamap.Annotation{Via: "the writer,it"}), personal("text2", datamap.Annotation{Via: "reader"}),
				{Name: "rank", Type: text},
			},
			Relations: []datamap.Relation{
				{Columns: []string{"person_id"}, References: "person", ReferencedColumns: []string{"id"}},
				{
					Columns: []string{"reply_id"}, References: "replies", ReferencedColumns: []string{"id"}, SetsNull: true,
					SamePerson: true,
				},
			},
		},
	}
}

// oddCatalog returns a schema that fits the data map of oddTables.
func oddCatalog() datamap.Catalog {
	var catalog datamap.Catalog
	for _, table := range oddTables() {
		live := datamap.CatalogTable{Name: table.Name, Kind: datamap.KindTable, PrimaryKey: table.PrimaryKey}
		for _, c := range table.Columns {
			live.Columns = append(live.Columns, datamap.CatalogColumn{
				Name: c.Name, Type: c.Type, Declared: map[datamap.ColumnType]string{
					datamap.TypeText: "text", datamap.TypeBigInt: "bigint", datamap.TypeArray: "integer[]",
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
	catalog.Tables[0].Uniques = []datamap.CatalogUnique{
		{Name: "once", Columns: []string{"tenant", "email"}},
		{Name: "twice", Columns: []string{"nick-name"}},
		{Name: "some", Columns: []string{"user_id"}, Partial: true},
	}
	return catalog
}
