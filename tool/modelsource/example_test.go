package modelsource_test

import (
	"fmt"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/modelsource"
)

// Write the models of a proposed data map, with the schema from which the proposal was made.
func ExampleWrite() {
	catalog := datamap.Catalog{Tables: []datamap.CatalogTable{{
		Name: "users", Kind: datamap.KindTable, PrimaryKey: []string{"id"},
		Columns: []datamap.CatalogColumn{
			{Name: "id", Declared: "bigint", Type: datamap.TypeBigInt},
			{Name: "email", Declared: "text", Type: datamap.TypeText},
		},
	}}}
	tables := []datamap.Table{{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: true,
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
		},
	}}
	var source strings.Builder
	if err := modelsource.Write(&source, "models", catalog, tables); err != nil {
		panic(err)
	}
	for _, line := range strings.Split(source.String(), "\n") {
		if strings.Contains(line, "Email") {
			fmt.Println(strings.Join(strings.Fields(line), " "))
		}
	}
	// Output: Email string `bun:"email,notnull" pii:"contact"`
}
