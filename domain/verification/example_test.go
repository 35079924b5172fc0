package verification_test

import (
	"context"
	"fmt"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// A job of the application writes an address back after the erasure. The verification finds the address.
func ExampleVerifier_Verify() {
	text := datamap.Column{Name: "text", Type: datamap.TypeText, Personal: &datamap.Annotation{
		Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
	}}
	number := func(name string) datamap.Column { return datamap.Column{Name: name, Type: datamap.TypeBigInt} }
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{number("id"), text},
	}, datamap.Table{
		Name: "notes", PrimaryKey: []string{"id"}, Columns: []datamap.Column{number("id"), number("user_id"), text},
		Relations: []datamap.Relation{{
			Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"},
		}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{}) // an application uses a database and package bunstore
	check(err)
	check(store.Insert("users", memory.Row{"id": 42, "text": "zoe@example.org"}))
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	zoe, err := domain.NewSubject("42")
	check(err)
	verify := func(ctx context.Context, s ports.Session) error {
		verified, err := engines.Verifier.Verify(ctx, s, zoe.ID)
		fmt.Println("left over:", verified.LeftOver)
		return err
	}

	ctx := context.Background()
	check(store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := engines.Eraser.Erase(ctx, s, zoe)
		return err
	}))
	check(store.Do(ctx, verify))
	check(store.Insert("notes", memory.Row{"id": 1, "user_id": 42, "text": "call Zoe"})) // a job that was late
	check(store.Do(ctx, verify))
	// Output:
	// left over: []
	// left over: [{notes text 1}]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
