package check_test

import (
	"context"
	"fmt"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/check"
)

// migrated is a fake database. A migration has removed the column address and added the table visits. In an
// application, bunstore.Store reads the schema.
type migrated struct{}

func (migrated) Catalog(context.Context) (datamap.Catalog, error) {
	return datamap.Catalog{Tables: []datamap.CatalogTable{
		{
			Name: "customers", Kind: datamap.KindTable, PrimaryKey: []string{"id"},
			Indexes: []datamap.CatalogIndex{{Name: "customers_pkey", Columns: []string{"id"}}},
			Columns: []datamap.CatalogColumn{
				{Name: "id", Declared: "bigint", Type: datamap.TypeBigInt},
				{Name: "email", Declared: "character varying(20)", Type: datamap.TypeText, Length: 20},
			},
		},
		{
			Name: "visits", Kind: datamap.KindTable, Columns: []datamap.CatalogColumn{
				{Name: "customer_id", Declared: "bigint", Type: datamap.TypeBigInt, Nullable: true},
			},
			ForeignKeys: []datamap.CatalogForeignKey{{
				Name: "visits_customer", Columns: []string{"customer_id"}, References: "customers",
				Referenced: []string{"id"}, OnDelete: datamap.ActionNone,
			}},
		},
	}}, nil
}

// Satisfies is not called, because the tables have no CHECK constraint.
func (migrated) Satisfies(
	context.Context, string, datamap.CatalogCheck, []map[string]any,
) ([]datamap.Verdict, error) {
	return nil, nil
}

func Example() {
	contact := &datamap.Annotation{Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize}
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "customers", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: contact},
			{Name: "address", Type: datamap.TypeText, Personal: contact},
		},
	})
	if err != nil {
		panic(err)
	}
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	if err != nil {
		panic(err)
	}
	result, err := check.Run(context.Background(), migrated{}, dataMap, plan, check.Options{})
	if err != nil {
		panic(err)
	}
	for _, finding := range result.Findings {
		fmt.Println(finding.Severity, finding.Where(), finding.Code)
	}
	fmt.Println(result.Findings[0].Reason)
	// Output:
	// error customers.email surrogate-length
	// error customers.address column-missing
	// warning visits table-undecided
	// An erasure writes 37 characters, but the column takes 20. The database refuses them, and the erasure fails.
}
