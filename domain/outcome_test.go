package domain_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

// panicking is an error whose methods panic.
type panicking struct{}

func (panicking) Error() string   { panic("zoe@example.org") }
func (panicking) Is(error) bool   { panic("zoe@example.org") }
func (panicking) Unwrap() []error { panic("zoe@example.org") }

func TestAnOutcomeIsTheClassOfTheError(t *testing.T) {
	for want, err := range map[domain.Outcome]error{
		domain.OutcomeOK:         nil,
		domain.OutcomeRefused:    &domain.ResolverError{Resolver: "desk"},
		domain.OutcomeRetryLater: fmt.Errorf("wrapped: %w", &domain.RetryLaterError{Resolver: "desk"}),
		domain.OutcomeCanceled:   context.Canceled,
		domain.OutcomeTimeout:    context.DeadlineExceeded,
		domain.OutcomePanic:      panicking{},
		domain.OutcomeInternal:   errors.New("boom"),
		"unavailable":            &domain.Error{Code: domain.ErrUnavailable},
	} {
		if got := domain.OutcomeOf(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// An application can create a Code from any text, but an Outcome must be one of a fixed list.
func TestAnOutcomeIsOneOfAClosedSet(t *testing.T) {
	for _, err := range []error{
		&domain.Error{Code: "zoe@example.org"}, domain.Code("zoe@example.org"), &domain.Error{Code: ""},
	} {
		if got := domain.OutcomeOf(err); got != domain.OutcomeInternal {
			t.Errorf("got %q", got)
		}
	}
	domain.Outcomes()[0] = "zoe@example.org"
	if domain.Outcomes()[0] != domain.OutcomeOK {
		t.Error("a caller can change the set")
	}
}

// The function Outcomes must return every constant of the types Code and Outcome. A new constant that is missing there
// fails this test.
func TestEveryCodeIsAnOutcome(t *testing.T) {
	found := 0
	for file, typeName := range map[string]string{"errors.go": "Code", "outcome.go": "Outcome"} {
		for _, value := range constantValues(t, file, typeName) {
			found++
			if !slices.Contains(domain.Outcomes(), domain.Outcome(value)) {
				t.Errorf("%q of %s is not in Outcomes", value, file)
			}
		}
	}
	if found != len(domain.Outcomes()) {
		t.Errorf("there are %d constants, and %d outcomes", found, len(domain.Outcomes()))
	}
}

// constantValues returns the values of the constants of type typeName in a file of the package.
func constantValues(t *testing.T, file, typeName string) (values []string) {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(syntax, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		name, ok := spec.Type.(*ast.Ident)
		if !ok || name.Name != typeName {
			return true
		}
		for _, value := range spec.Values {
			if literal, ok := value.(*ast.BasicLit); ok {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, text)
			}
		}
		return true
	})
	return values
}
