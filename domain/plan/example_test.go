package plan_test

import (
	"fmt"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// A store marks the values in the export of a person that was erased before.
func ExampleMarkErased() {
	contact := &datamap.Annotation{Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize}
	users := datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: contact, Surrogate: "{}@erased.invalid"},
		},
	}
	dataMap, err := datamap.NewDataMap(users)
	if err != nil {
		panic(err)
	}
	records := []domain.ExportRecord{{Field: "email", Value: "0123456789abcdef0123456789abcdef@erased.invalid"}}
	plan.MarkErased(dataMap, users, dataMap.Paths("users"), records)
	fmt.Println(records[0].Value, records[0].Erased)
	// Output: <nil> true
}
