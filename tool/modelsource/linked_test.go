package modelsource_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/modelsource/testdata/linked"
)

// linkedTables returns posts, which refer to each other, and a link table that goes with the posts of their authors.
func linkedTables() []datamap.Table {
	column := func(name string) datamap.Column { return datamap.Column{Name: name, Type: datamap.TypeBigInt} }
	relation := func(name, column, to string, strategy domain.Strategy) datamap.Relation {
		return datamap.Relation{
			Name: name, Columns: []string{column}, References: to, ReferencedColumns: []string{"id"},
			Path: name != "answers", OnErasure: strategy,
		}
	}
	return []datamap.Table{
		{Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{column("id")}},
		{
			Name: "posts", PrimaryKey: []string{"id"},
			Columns: []datamap.Column{column("id"), column("author_id"), column("asked_id"), column("answers_id")},
			Relations: []datamap.Relation{
				relation("Author", "author_id", "users", domain.StrategyDelete), relation("Asked", "asked_id", "users", ""),
				relation("answers", "answers_id", "posts", domain.StrategyNull),
			},
		},
		{
			Name: "stars", PrimaryKey: []string{"id"}, Owned: true, Via: "Post, Giver", // Post means Post.Author only
			Columns: []datamap.Column{column("id"), column("post_id"), column("giver_id")},
			Relations: []datamap.Relation{
				relation("Post", "post_id", "posts", ""), relation("Giver", "giver_id", "users", ""),
			},
		},
	}
}

func TestTheModelsOfLinkedTables(t *testing.T) {
	var catalog datamap.Catalog
	for _, table := range linkedTables() {
		live := datamap.CatalogTable{Name: table.Name, Kind: datamap.KindTable, PrimaryKey: table.PrimaryKey}
		for _, c := range table.Columns {
			live.Columns = append(live.Columns, datamap.CatalogColumn{
				Name: c.Name, Type: c.Type, Declared: "bigint", Nullable: c.Name != "id",
			})
		}
		catalog.Tables = append(catalog.Tables, live)
	}
	wantModels(t, "linked", catalog, linkedTables())
	wantSameEffects(t, linked.Models(), linkedTables())
}
