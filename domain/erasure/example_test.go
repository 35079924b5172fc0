package erasure_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/ports"
)

// The plan is the same for all subjects. It can be read before the first erasure.
func ExamplePlanner_Plan() {
	dataMap, err := datamap.NewDataMap(userTable(), addressTable(), invoiceTable())
	check(err)
	plan, err := erasure.Planner{}.Plan(dataMap, []string{"supportdesk"})
	check(err)
	for _, step := range plan.Steps {
		fmt.Println(step.Strategy, step.Target, step.Columns)
	}
	// Output:
	// delete addresses []
	// anonymize invoices [phone]
	// retain invoices [total]
	// anonymize users [email]
	// delete supportdesk []
}

// An invoice that must be kept cannot belong to an address that is deleted. The planner refuses this at start-up.
func ExamplePlanner_Plan_refused() {
	invoices := invoiceTable()
	invoices.Relations[0].References = "addresses"
	dataMap, err := datamap.NewDataMap(userTable(), addressTable(), invoices)
	check(err)
	_, err = erasure.Planner{}.Plan(dataMap, nil)
	fmt.Println(errors.Is(err, domain.ErrRetention))
	var refused *domain.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Problems[0].Where(), refused.Problems[0].Message)
	}
	// Output:
	// true
	// invoices.total is retained, but the rows of addresses, on its path to the subject, are deleted
}

// Zoe is erased in the session of the caller. The audit events are written in the same transaction.
func ExampleEraser_Erase() {
	dataMap, err := datamap.NewDataMap(userTable(), addressTable())
	check(err)
	store, err := memory.New(dataMap, memory.Options{}) // an application uses a database and package bunstore
	check(err)
	check(store.Insert("users", memory.Row{"id": 42, "email": "zoe@example.org", "theme": "dark"}))
	check(store.Insert("addresses", memory.Row{"id": 1, "user_id": 42, "street": "1 Rue de la Paix"}))

	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	zoe, err := domain.NewSubject("42")
	check(err)
	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		result, err := engines.Eraser.Erase(ctx, s, zoe)
		fmt.Println("deleted:", result.Deleted, "anonymized:", result.Anonymized)
		return err
	})
	check(err)

	left, err := store.Rows("users")
	check(err)
	fmt.Println(left[0]["theme"], strings.HasPrefix(left[0]["email"].(string), "anon-"))
	// Output:
	// deleted: map[addresses:1] anonymized: map[users:1]
	// dark true
}

// userTable is the subject's table. Its rows survive, because theme is not personal data.
func userTable() datamap.Table {
	return datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
			}},
			{Name: "theme", Type: datamap.TypeText},
		},
	}
}

// addressTable has rows that belong only to the user. All columns except the keys are annotated. An erasure deletes the
// rows, because the annotations have no strategy.
func addressTable() datamap.Table {
	return datamap.Table{
		Name: "addresses", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{ofUser()},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "user_id", Type: datamap.TypeBigInt},
			{Name: "street", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryLocation}},
		},
	}
}

// invoiceTable has rows with a retained column. The annotation names the duty to retain it.
func invoiceTable() datamap.Table {
	return datamap.Table{
		Name: "invoices", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{ofUser()},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "user_id", Type: datamap.TypeBigInt},
			{Name: "phone", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
			{Name: "total", Type: datamap.TypeNumber, Personal: &datamap.Annotation{
				Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "§ 147 AO",
			}},
		},
	}
}

func ofUser() datamap.Relation {
	return datamap.Relation{Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"}}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
