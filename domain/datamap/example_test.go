package datamap_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// An application without bun models declares in Go where it stores personal data.
func ExampleNewDataMap() {
	users := datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize, Basis: domain.BasisContract,
			}},
			{Name: "theme", Type: datamap.TypeText},
		},
	}
	orders := datamap.Table{
		Name: "orders", PrimaryKey: []string{"id"}, Owned: true,
		Relations: []datamap.Relation{
			{Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"}},
		},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "user_id", Type: datamap.TypeBigInt},
			{Name: "note", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryCommunication}},
		},
	}
	dataMap, err := datamap.NewDataMap(users, orders)
	fmt.Println(dataMap.SubjectTable().Name, dataMap.Paths("orders")[0].Relations[0].Columns, err)

	orders.Relations = nil // the orders now belong to no subject
	_, err = datamap.NewDataMap(users, orders)
	for _, problem := range domain.Problems(err) {
		fmt.Println(errors.Is(err, domain.ErrManifest), problem.Table, problem.Message, problem.Possible)
	}
	// Output:
	// users [user_id] <nil>
	// true orders does not reach the subject's table by belongs-to relations [users]
}

// An invoice must be kept for ten years by law.
func ExampleParsePeriod() {
	duty, err := datamap.ParsePeriod("10y")
	check(err)
	issued := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	fmt.Println(duty, duty.After(issued).Format(time.DateOnly))
	// Output: 10y 2034-03-01
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
