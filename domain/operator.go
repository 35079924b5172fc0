package domain

import (
	"context"
	"strings"
	"unicode"
)

// PayloadOperator is the name of the operator's id in a payload. The name is missing if the subject itself or the
// application has acted.
const PayloadOperator = "operator"

type operator struct{}

// WithOperator returns a context for the actions of an operator. An operator is a person or a job that acts for the
// subject. The events that a service records with this context have the id as PayloadOperator. The id should be a staff
// id or the name of a role, because the audit trail keeps it as long as the event. Returns ErrInvalid unless the id has
// 1 to MaxTextLength characters and no control characters.
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

// OperatorOf returns the id that WithOperator set on ctx, or an empty text.
func OperatorOf(ctx context.Context) string {
	id, _ := ctx.Value(operator{}).(string)
	return id
}
