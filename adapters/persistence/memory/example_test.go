package memory_test

import (
	"context"
	"fmt"
	"log"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// An application keeps the users of a shop in memory. A user gives consent and requests a copy of her data.
func ExampleNew() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize, Purpose: "account login",
			}},
			{Name: "theme", Type: datamap.TypeText},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	store, err := memory.New(dataMap, memory.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Insert("users", memory.Row{"id": 7, "email": "jane@example.org", "theme": "dark"}); err != nil {
		log.Fatal(err)
	}
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	if err != nil {
		log.Fatal(err)
	}
	jane, err := domain.NewSubject("7")
	if err != nil {
		log.Fatal(err)
	}

	var status domain.ConsentStatus
	var bundle domain.ExportBundle
	err = store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		if bundle, err = engines.Exporter.Export(ctx, s, jane); err != nil { // before any write
			return err
		}
		decision := domain.ConsentDecision{Purpose: "newsletter", PolicyVersion: "2", Granted: true, Source: "api"}
		if _, err := engines.Consent.Record(ctx, s, jane.ID, decision); err != nil {
			return err
		}
		status, err = engines.Consent.Status(ctx, s, jane.ID, "newsletter")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range bundle.Records {
		fmt.Println(record.Source, record.Row, record.Field, "=", record.Value, "for", *record.Purpose)
	}
	fmt.Println(status.Purpose, "granted:", status.Granted)

	// Output:
	// users 7 email = jane@example.org for account login
	// newsletter granted: true
}
