package resolvers_test

import (
	"errors"
	"fmt"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/resolvers"
)

// The engines take the external systems of an application as one set. Package stack makes it from its configuration.
func ExampleNewSet() {
	desk, err := supportdesk.New("token", supportdesk.Options{})
	check(err)
	set, err := resolvers.NewSet(desk)
	check(err)
	fmt.Println(set.Names(), set.CanRectify())

	_, err = resolvers.NewSet(desk, desk) // which of them would a ref go to?
	fmt.Println(errors.Is(err, domain.ErrConfiguration))
	// Output:
	// [supportdesk] false
	// true
}

// A ref goes to the system whose name is its kind. One that goes nowhere is an error, and never passed over.
func ExampleSet_Route() {
	desk, err := supportdesk.New("token", supportdesk.Options{})
	check(err)
	set, err := resolvers.NewSet(desk)
	check(err)

	calls, skipped, err := set.Route([]domain.SubjectRef{{Kind: "supportdesk", Value: "c1"}})
	fmt.Println(len(calls), skipped, err)
	calls, skipped, err = set.Route(nil) // somebody who never wrote to the desk
	fmt.Println(len(calls), skipped, err)
	_, _, err = set.Route([]domain.SubjectRef{{Kind: "helpdesk", Value: "c1"}})
	fmt.Println(errors.Is(err, domain.ErrSubject))
	// Output:
	// 1 [] <nil>
	// 0 [supportdesk] <nil>
	// true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
