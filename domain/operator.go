package domain

import (
	"context"
	"strings"
	"unicode"
)

// PayloadOperator is the name of the operator's id in a payload. A payload has none for an act of the subject itself,
// or of the application.
const PayloadOperator = "operator"

type operator struct{}

// WithOperator returns a context for the acts of an operator: a person, or a job, that acts for the subject. The events
// that an engine records with this context have the id as PayloadOperator. The id is 1 to MaxTextLength characters
// without control characters, else the error is ErrInvalid. It should be a staff id or the name of a role: the audit
// trail keeps it for as long as the event.
func WithOperator(ctx context.Context, id string) (context.Context, error) {
	fields := CheckText("operator", id, 1)
	if len(fields) == 0 && strings.ContainsFunc(id, unicode.IsControl) {
		fields = []FieldError{{"operator", FieldCharacter, "must not have control characters"}}
	}
	if err := Invalid("operator", fields); err != nil {
		return nil, err
	}
	return context.WithValue(ctx, operator{}, id), nil
}

// OperatorOf returns the id that WithOperator gave to ctx. It is empty if there is none.
func OperatorOf(ctx context.Context) string {
	id, _ := ctx.Value(operator{}).(string)
	return id
}
