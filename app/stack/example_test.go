package stack_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// The services on a store in memory. For a store in a database, use package bunstore.
func ExampleNew() {
	dataMap, err := datamap.NewDataMap(users)
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	check(store.Insert("users", memory.Row{"id": 42, "email": "zoe@example.org"}))
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	for _, step := range engines.Eraser.Plan().Steps {
		fmt.Println(step.Strategy, step.Target)
	}

	zoe, err := domain.NewSubject("42")
	check(err)
	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		result, err := engines.Eraser.Erase(ctx, s, zoe)
		fmt.Println("deleted:", result.Deleted)
		return err
	})
	check(err)
	// Output:
	// delete users
	// deleted: map[users:1]
}

// The routes with net/http. A function of the application returns the subject of each request.
func ExampleStack_API() {
	dataMap, err := datamap.NewDataMap(users)
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	api, err := engines.API(httpapi.Config{})
	check(err)

	rights := nethttp.Handler("/me", api, func(*http.Request) (domain.Subject, error) {
		return domain.NewSubject("42") // a real application takes the id from its session or a verified token
	})
	mux := http.NewServeMux()
	mux.Handle("/me", rights)
	mux.Handle("/me/", rights)

	response := httptest.NewRecorder()
	mux.ServeHTTP(response, httptest.NewRequest(http.MethodDelete, "/me", nil))
	fmt.Println(response.Code, response.Header().Get("Content-Type"))
	// Output: 200 application/json
}

// users is the only table of the application. Its rows have only personal data and keys, so an erasure deletes them.
var users = datamap.Table{
	Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
	Columns: []datamap.Column{
		{Name: "id", Type: datamap.TypeBigInt},
		{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
	},
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
