// Package hook calls functions of the application, whose panics it contains.
package hook

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Before is called in the transaction of an operation, before it changes anything of the application's.
type Before = func(ctx context.Context, s ports.Session, subject domain.Subject) error

// Target stands for a hook in the payload of an event.
const Target = "hook"

// Panicked is the error of a hook that panicked. It does not have the value, which may hold anything.
type Panicked struct{}

func (*Panicked) Error() string { return "habeas: a hook panicked" }

// Contain calls a function. A panic of it becomes the error *Panicked.
func Contain(call func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = &Panicked{}
		}
	}()
	return call()
}

// OutcomeOf is domain.OutcomeOf, and domain.OutcomePanic for a panic.
func OutcomeOf(err error) domain.Outcome {
	if _, panicked := err.(*Panicked); panicked { //nolint:errorlint // as Contain returns it
		return domain.OutcomePanic
	}
	return domain.OutcomeOf(err)
}

// ClassOf is domain.ErrorClass, and "panic" for a panic.
func ClassOf(err error) string {
	if _, panicked := err.(*Panicked); panicked { //nolint:errorlint // as Contain returns it
		return "panic"
	}
	return domain.ErrorClass(err)
}
