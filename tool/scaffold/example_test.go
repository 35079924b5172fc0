package scaffold_test

import (
	"fmt"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// In an application, a store reads the catalog (the live schema) of the database. See ports.CatalogReader.
func ExamplePropose() {
	proposal, err := scaffold.Propose(datamap.Catalog{Tables: []datamap.CatalogTable{{
		Name: "users", Kind: datamap.KindTable, PrimaryKey: []string{"id"}, Rows: -1,
		Columns: []datamap.CatalogColumn{
			{Name: "id", Declared: "bigint", Type: datamap.TypeBigInt},
			{Name: "email", Declared: "text", Type: datamap.TypeText},
			{Name: "theme", Declared: "text", Type: datamap.TypeText},
		},
	}}}, scaffold.Options{})
	if err != nil {
		panic(err)
	}
	for _, column := range proposal.Tables[0].Personal() {
		fmt.Println(proposal.Tables[0].Name, column.Name, column.Personal.Category)
	}
	// Output: users email contact
}
