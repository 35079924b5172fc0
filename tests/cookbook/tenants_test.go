package cookbook_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Employee struct {
	bun.BaseModel `bun:"table:employees"`

	Tenant string `bun:"tenant,pk" subject:"id"`
	Number string `bun:"number,pk" subject:"id"`
	Name   string `bun:"name" pii:"identity,erasure:anonymize"`
}

type Shift struct {
	bun.BaseModel `bun:"table:shifts" subject:"owned"`

	ID       int64     `bun:"id,pk"`
	Tenant   string    `bun:"tenant"`
	Number   string    `bun:"number"`
	Employee *Employee `bun:"rel:belongs-to,join:tenant=tenant,join:number=number"`
	Place    string    `bun:"place" pii:"location"`
}

// currentEmployee returns a subject with both keys of the signed-in employee, in the order of the key columns.
func currentEmployee(c *fiber.Ctx) (domain.Subject, error) {
	employee, ok := c.Locals("employee").(*Employee)
	if !ok {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	id, err := domain.NewSubjectID(employee.Tenant, employee.Number)
	return domain.Subject{ID: id}, err
}

func TestASubjectIsOneOfItsTenant(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Employee)(nil), (*Shift)(nil)}
		prepare(t, db, models...)
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		insert(t, db,
			&Employee{Tenant: "acme", Number: "7", Name: "Zoe"}, &Employee{Tenant: "brix", Number: "7", Name: "Bob"},
			&Shift{ID: 1, Tenant: "acme", Number: "7", Place: "Bonn"}, &Shift{ID: 2, Tenant: "brix", Number: "7", Place: "Köln"})
		var zoe domain.Subject
		server := fiber.New()
		server.Get("/", func(c *fiber.Ctx) error {
			c.Locals("employee", &Employee{Tenant: "acme", Number: "7"})
			zoe, err = currentEmployee(c)
			return err
		})
		request(t, server, "/")

		expectText(t, erasing(t, db, gdpr, zoe, "employees", "shifts"), `
			before    employees: tenant=acme, number=7, name=Zoe
			before    employees: tenant=brix, number=7, name=Bob
			before    shifts: id=1, tenant=acme, number=7, place=Bonn
			before    shifts: id=2, tenant=brix, number=7, place=Köln
			exported  employees.name = Zoe
			exported  shifts.place = Bonn
			after     employees: tenant=acme, number=7, name=anon-…
			after     employees: tenant=brix, number=7, name=Bob
			after     shifts: id=2, tenant=brix, number=7, place=Köln
		`)
	})
}

// request makes a request, which must succeed.
func request(t *testing.T, server *fiber.App, path string) {
	t.Helper()
	response, err := server.Test(httptest.NewRequest(http.MethodGet, path, nil))
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
}
