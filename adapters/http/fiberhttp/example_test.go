package fiberhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// currentSubject returns the user whom the authentication of the application has stored in the locals of the request.
func currentSubject(c *fiber.Ctx) (domain.Subject, error) {
	user, ok := c.Locals("user").(string)
	if !ok {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	return domain.NewSubject(user)
}

// authenticate is a placeholder for the authentication of an application.
func authenticate(c *fiber.Ctx) error {
	c.Locals("user", "42")
	return c.Next()
}

func ExampleRouter() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{}) // an application uses a database and package bunstore
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	api, err := engines.API(httpapi.Config{})
	check(err)

	server := fiber.New()
	fiberhttp.Router(api, currentSubject)(server.Group("/me", authenticate))

	response, err := server.Test(httptest.NewRequest(http.MethodGet, "/me/consent/newsletter", nil))
	check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check(err)
	fmt.Println(response.StatusCode)
	fmt.Print(string(body))
	// Output:
	// 200
	// {"subject_id":"42","purpose":"newsletter","granted":false,"policy_version":null,"recorded_at":null,"source":null}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
