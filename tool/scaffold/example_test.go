package scaffold_test

import (
	"context"
	"fmt"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// In an application, a store or a bunstore.Schema reads the schema of the database.
func ExamplePropose() {
	schema := memory.NewSchema(datamap.Catalog{Tables: []datamap.CatalogTable{{
		Name: "users", Kind: datamap.KindTable, PrimaryKey: []string{"id"}, Rows: -1,
		Columns: []datamap.CatalogColumn{
			{Name: "id", Declared: "bigint", Type: datamap.TypeBigInt},
			{Name: "email", Declared: "text", Type: datamap.TypeText},
			{Name: "theme", Declared: "text", Type: datamap.TypeText},
		},
	}}})
	proposal, err := scaffold.Propose(context.Background(), schema, scaffold.Options{})
	if err != nil {
		panic(err)
	}
	for _, column := range proposal.Tables[0].Personal() {
		fmt.Println(proposal.Tables[0].Name, column.Name, column.Personal.Category)
	}
	// Output: users email contact
}
