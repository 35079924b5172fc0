package httpapi_test

import (
	"context"
	"fmt"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// An adapter for another framework fills a Request, and sends the Response.
func ExampleNew() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	api, err := httpapi.New(httpapi.Config{ // engines.API does the same
		Sessions:    engines.Sessions,
		Consent:     engines.Consent,
		Restriction: engines.Restriction,
		Export:      engines.Exporter,
		Erasure:     engines.Eraser,
		DataMap:     engines.DataMap,
	})
	check(err)

	response := api.Route(context.Background(), "GET", "/consent/newsletter", httpapi.Request{
		Subject: func(context.Context) (domain.Subject, error) { return domain.NewSubject("42") },
	})
	fmt.Println(response.Status, response.Header.Get("Content-Type"))
	fmt.Print(string(response.Body))
	// Output:
	// 200 application/json
	// {"subject_id":"42","purpose":"newsletter","granted":false,"policy_version":null,"recorded_at":null,"source":null}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
