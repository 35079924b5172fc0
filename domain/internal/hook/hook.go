// Package hook calls the hooks of an application and recovers their panics. A hook is a function of the application
// that runs before or after an operation.
package hook

import (
	"context"
	"errors"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Target is the value of "target" in the payload of an audit event about a failed hook.
const Target = "hook"

// Hooks holds the hooks of an operation whose result has the type R. A nil hook is not called.
type Hooks[R interface{ Clone() R }] struct {
	// Before is called in the transaction of an operation, before the operation changes data of the application.
	Before func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// After is called after the commit of the transaction of an operation.
	After func(ctx context.Context, subject domain.Subject, result R)
}

// CallBefore calls the hook Before and returns its error, or *Panicked if the hook panics. A *domain.RefusalError that
// breaks a rule becomes the error of its method Check. If the hook fails or panics,
// CallBefore also appends an audit event as evidence, which stays after the transaction rolls back. The caller passes a
// function that creates this event from a payload.
func (h Hooks[R]) CallBefore(
	ctx context.Context, s ports.Session, subject domain.Subject, failed func(domain.Payload) domain.AuditEvent,
) error {
	if h.Before == nil {
		return nil
	}
	err := contain(func() error { return checked(h.Before(ctx, s, subject.Clone())) })
	if err == nil {
		return nil
	}
	event := failed(domain.Payload{"target": Target, "error": classOf(err)})
	// The error is ignored, because SessionFactory.Do reports evidence that cannot be stored.
	_ = s.Audit().AppendEvidence(ctx, event)
	return err
}

// checked returns the error of the hook, or the error of its refusal if that breaks a rule.
func checked(err error) error {
	if refusal := (*domain.RefusalError)(nil); errors.As(err, &refusal) {
		if wrong := refusal.Check(); wrong != nil {
			return wrong
		}
	}
	return err
}

// CallAfter registers the hook After with the session. The session calls the hook after the commit, with copies of the
// subject and the result.
func (h Hooks[R]) CallAfter(s ports.Session, subject domain.Subject, result R) {
	if h.After == nil {
		return
	}
	subject, result = subject.Clone(), result.Clone()
	s.AfterEnd(func(ctx context.Context, err error) {
		if err != nil {
			return
		}
		_ = contain(func() error {
			h.After(ctx, subject, result)
			return nil
		})
	})
}

// Panicked is the error of a hook that panicked. It does not contain the value of the panic, which may hold personal
// data.
type Panicked struct{}

func (*Panicked) Error() string { return "habeas: a hook panicked" }

// contain calls a function and converts a panic to the error *Panicked.
func contain(call func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = &Panicked{}
		}
	}()
	return call()
}

// OutcomeOf returns domain.OutcomePanic for *Panicked, otherwise the result of domain.OutcomeOf.
func OutcomeOf(err error) domain.Outcome {
	if _, panicked := err.(*Panicked); panicked { //nolint:errorlint // as contain returns it
		return domain.OutcomePanic
	}
	return domain.OutcomeOf(err)
}

// classOf returns "panic" for *Panicked, otherwise the result of domain.ErrorClass.
func classOf(err error) string {
	if _, panicked := err.(*Panicked); panicked { //nolint:errorlint // as contain returns it
		return "panic"
	}
	return domain.ErrorClass(err)
}
