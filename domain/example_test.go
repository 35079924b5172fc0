package domain_test

import (
	"errors"
	"fmt"

	"github.com/habeas-data/habeas/domain"
)

// The subject provider of an application returns the id in the application's own database, and the refs.
func ExampleNewSubject() {
	zoe, err := domain.NewSubject("42", domain.SubjectRef{Kind: "supportdesk", Value: "c1"})
	fmt.Println(zoe.ID.Elements(), zoe.Refs[0].Kind, err)

	_, err = domain.NewSubject("") // for example, from a request without authentication
	fmt.Println(errors.Is(err, domain.ErrSubject))
	// Output:
	// [42] supportdesk <nil>
	// true
}

// If each customer belongs to a tenant, the id of a customer has two elements, in the order of the key columns.
// Customers with the same number at two tenants are different customers.
func ExampleNewSubjectID() {
	zoe, err := domain.NewSubjectID("acme", "42")
	check(err)
	namesake, err := domain.NewSubjectID("globex", "42")
	check(err)
	fmt.Println(zoe == namesake)

	again, err := domain.ParseSubjectID(zoe.String()) // the canonical form, as the ledgers store it
	fmt.Println(zoe == again, err)
	// Output:
	// false
	// true <nil>
}

func ExampleSubjectID_Elements() {
	zoe, err := domain.NewSubjectID("acme", "42")
	check(err)
	tenant, number := zoe.Elements()[0], zoe.Elements()[1]
	fmt.Println(tenant, number)
	fmt.Printf("%q\n", zoe.String())
	// Output:
	// acme 42
	// "acme\x1f42"
}

// Decide by the code of an error, never by its text.
func ExampleCode() {
	status := func(err error) int {
		switch {
		case err == nil:
			return 200
		case errors.Is(err, domain.ErrInvalid):
			return 422
		case errors.Is(err, domain.ErrUnavailable):
			return 503
		default:
			return 500
		}
	}
	lost := &domain.Error{Code: domain.ErrUnavailable, Op: "export", Message: "the database cannot be reached"}
	fmt.Println(status(nil), status(fmt.Errorf("nightly job: %w", lost)), status(errors.New("bug")))
	// Output:
	// 200 503 500
}

// An ErrInvalid error lists all wrong fields of a request.
func ExampleError() {
	decision := domain.ConsentDecision{Purpose: "newsletter", Granted: true}
	err := domain.Invalid("record consent", decision.Check())

	var invalid *domain.Error
	if errors.As(err, &invalid) {
		for _, field := range invalid.Fields {
			fmt.Println(field.Field, field.Code)
		}
	}
	// Output:
	// policy_version required
	// source required
}

// Log the class of an error. The text of an error from another package may contain personal data.
func ExampleErrorClass() {
	refused := &domain.ResolverError{Resolver: "supportdesk", Message: "DELETE returned status 403"}
	driver := errors.New(`duplicate key value (email)=(zoe@example.org)`)

	fmt.Println(domain.ErrorClass(fmt.Errorf("erase: %w", refused)))
	fmt.Println(domain.ErrorClass(&domain.Error{Code: domain.ErrConflict, Op: "sign up", Err: driver}))
	fmt.Println(domain.ErrorClass(driver))
	// Output:
	// refused
	// conflict
	// internal
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
