package modelsource_test

import (
	"fmt"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tool/modelsource"
)

// Write the models of a proposed data map, with the schema from which the proposal was made.
func ExampleWrite() {
	catalog := domain.Catalog{Tables: []domain.CatalogTable{{
		Name: "users", Kind: domain.KindTable, PrimaryKey: []string{"id"},
		Columns: []domain.CatalogColumn{
			{Name: "id", Declared: "bigint", Type: domain.TypeBigInt},
			{Name: "email", Declared: "text", Type: domain.TypeText},
		},
	}}}
	tables := []domain.Table{{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: true,
		Columns: []domain.Column{
			{Name: "id", Type: domain.TypeBigInt},
			{Name: "email", Type: domain.TypeText, Personal: &domain.Annotation{Category: domain.CategoryContact}},
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
