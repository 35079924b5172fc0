package check_test

import (
	"context"
	"fmt"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/check"
)

// migrated is a fake database. A migration has removed the column address and added the table visits. In an
// application, bunstore.Store reads the schema.
type migrated struct{}

func (migrated) Catalog(context.Context) (domain.Catalog, error) {
	return domain.Catalog{Tables: []domain.CatalogTable{
		{
			Name: "customers", Kind: domain.KindTable, PrimaryKey: []string{"id"},
			Indexes: []domain.CatalogIndex{{Name: "customers_pkey", Columns: []string{"id"}}},
			Columns: []domain.CatalogColumn{
				{Name: "id", Declared: "bigint", Type: domain.TypeBigInt},
				{Name: "email", Declared: "character varying(20)", Type: domain.TypeText, Length: 20},
			},
		},
		{
			Name: "visits", Kind: domain.KindTable, Columns: []domain.CatalogColumn{
				{Name: "customer_id", Declared: "bigint", Type: domain.TypeBigInt, Nullable: true},
			},
			ForeignKeys: []domain.CatalogForeignKey{{
				Name: "visits_customer", Columns: []string{"customer_id"}, References: "customers",
				Referenced: []string{"id"}, OnDelete: domain.ActionNone,
			}},
		},
	}}, nil
}

func Example() {
	contact := &domain.Annotation{Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize}
	dataMap, err := domain.NewDataMap(domain.Table{
		Name: "customers", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []domain.Column{
			{Name: "id", Type: domain.TypeBigInt},
			{Name: "email", Type: domain.TypeText, Personal: contact},
			{Name: "address", Type: domain.TypeText, Personal: contact},
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
	// warning visits.customer_id table-unmapped
	// An erasure writes 37 characters, but the column takes 20. The database refuses them, and the erasure fails.
}
