package rectification_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/ports"
)

// Zoe has married. The application has checked the certificate and corrects her name.
func ExampleRectifier_Rectify() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "name", Type: datamap.TypeText, Length: 40, Personal: &datamap.Annotation{Category: domain.CategoryIdentity}},
		},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{}) // an application uses a database and package bunstore
	check(err)
	check(store.Insert("users", memory.Row{"id": 42, "name": "Zoe Ypsilanti"}))

	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	zoe, err := domain.NewSubject("42")
	check(err)
	for _, name := range []any{"Zoe Xenakis", 7} {
		err := engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
			result, err := engines.Rectifier.Rectify(ctx, s, zoe, domain.Correction{Table: "users", Column: "name", Value: name})
			fmt.Println("rectified:", result.Rectified)
			return err
		})
		fmt.Println("refused:", errors.Is(err, domain.ErrInvalid))
	}
	rows, err := store.Rows("users")
	check(err)
	fmt.Println(rows[0]["name"])
	// Output:
	// rectified: map[users:1]
	// refused: false
	// rectified: map[]
	// refused: true
	// Zoe Xenakis
}

// A person may correct a name. The data map determines the columns to write.
func ExamplePlanner() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "name", Type: datamap.TypeText, Length: 10, Personal: &datamap.Annotation{Category: domain.CategoryIdentity}},
		},
	})
	check(err)
	corrections := domain.Corrections{domain.CategoryIdentity: "Zoë"}
	plan, err := rectification.Planner{}.Plan(dataMap, corrections.List(true), false)
	fmt.Println(plan.Steps[0].Table, plan.Steps[0].Values, err)

	corrections = domain.Corrections{domain.CategoryIdentity: "Zoë Ypsilanti"}
	_, err = rectification.Planner{}.Plan(dataMap, corrections.List(true), false)
	fmt.Println(errors.Is(err, domain.ErrInvalid))
	// Output:
	// users [{name Zoë}] <nil>
	// true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
