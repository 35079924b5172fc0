package domain

import (
	"context"
	"strings"
	"unicode"
)

// PayloadOperator is the name under which a payload holds the id of the operator. The payload has no such entry if the
// subject itself or the application has acted.
const PayloadOperator = "operator"

type operator struct{}

// WithOperator returns a context for the actions of an operator. An operator is a person or a job that acts for the
// subject. Each event that a service records with this context has the id as PayloadOperator. The id should be a staff
// id or the name of a role, because the audit trail keeps the id as long as the event. WithOperator returns ErrInvalid
// if the id does not have 1 to MaxTextLength characters, or has a control character.
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

type requestNumber struct{}

// WithRequest returns a context for the work that carries out a request of the register (package request). The number
// of the request is the id of the operation: all events and outbox entries have it (PayloadOperationID).
func WithRequest(ctx context.Context, number string) context.Context {
	return context.WithValue(ctx, requestNumber{}, number)
}

// RequestOf returns the number that WithRequest set on ctx, or an empty text.
func RequestOf(ctx context.Context) string {
	number, _ := ctx.Value(requestNumber{}).(string)
	return number
}

// OperatorOf returns the operator's id that WithOperator set on ctx, or an empty text.
func OperatorOf(ctx context.Context) string {
	id, _ := ctx.Value(operator{}).(string)
	return id
}
