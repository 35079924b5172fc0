package export_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Zoe requests a copy of her data. The newsletter service does not respond, so the bundle lists it as incomplete.
func ExampleExporter_Export() {
	engines := shop(newsletter{})
	zoe, err := domain.NewSubject("42", domain.SubjectRef{Kind: "newsletter", Value: "s-7"})
	check(err)

	var bundle domain.ExportBundle
	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) (err error) {
		bundle, err = engines.Exporter.Export(ctx, s, zoe)
		return err
	})
	check(err)
	for _, record := range bundle.Records {
		fmt.Println(record.Source, record.Field, record.Category, record.Value)
	}
	fmt.Println("incomplete:", bundle.IncompleteSources)
	// Output:
	// users email contact zoe@example.org
	// users visits behavioral 12
	// incomplete: [newsletter]
}

// Each record of a large export is written as soon as it is read. The export is valid only after the session has
// committed.
func ExampleExporter_Stream() {
	engines := shop()
	zoe, err := domain.NewSubject("42")
	check(err)

	lines := json.NewEncoder(os.Stdout) // a file that a retried session overwrites, for example
	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		begin := func(bundle domain.ExportBundle) error { return lines.Encode(bundle.SchemaVersion) }
		yield := func(record domain.ExportRecord) error {
			return lines.Encode([]any{record.Source, record.Row, record.Field, record.Value})
		}
		return engines.Exporter.Stream(ctx, s, zoe, begin, yield)
	})
	check(err)
	// Output:
	// 1
	// ["users","42","email","zoe@example.org"]
	// ["users","42","visits",12]
}

// shop returns the engines on a store in memory with one user. An application uses a database and package app instead.
func shop(systems ...ports.Resolver) stack.Stack {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
			{Name: "visits", Type: datamap.TypeInteger, Personal: &datamap.Annotation{Category: domain.CategoryBehavioral}},
		},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	check(store.Insert("users", memory.Row{"id": 42, "email": "zoe@example.org", "visits": 12}))
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap, Resolvers: systems})
	check(err)
	return engines
}

// newsletter is an external system that does not respond.
type newsletter struct{}

func (newsletter) Name() string { return "newsletter" }

func (newsletter) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (newsletter) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, errors.New("no response")
}

func (newsletter) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	return false, errors.New("no response")
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
