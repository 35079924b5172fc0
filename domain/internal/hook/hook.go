// Package hook calls functions of the application before and after an operation. It contains their panics.
package hook

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Target stands for a hook in the payload of an event.
const Target = "hook"

// Hooks are the hooks of an operation with results of the type R. Each is nil if there is none.
type Hooks[R interface{ Clone() R }] struct {
	// Before is called in the transaction of an operation, before it changes anything of the application's.
	Before func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// After is called after the commit.
	After func(ctx context.Context, subject domain.Subject, result R)
}

// CallBefore calls Before. It returns the error of Before, or *Panicked for a panic, and appends the event that failed
// makes of a payload as evidence.
func (h Hooks[R]) CallBefore(
	ctx context.Context, s ports.Session, subject domain.Subject, failed func(domain.Payload) domain.AuditEvent,
) error {
	if h.Before == nil {
		return nil
	}
	err := contain(func() error { return h.Before(ctx, s, subject.Clone()) })
	if err == nil {
		return nil
	}
	event := failed(domain.Payload{"target": Target, "error": classOf(err)})
	_ = s.Audit().AppendEvidence(ctx, event) // err is the cause; Do reports lost evidence
	return err
}

// CallAfter has After called once the session has committed, with copies of the subject and of the result. Returns
// domain.ErrConfiguration if there is a hook and the session is no ports.CommitNotifier.
func (h Hooks[R]) CallAfter(s ports.Session, subject domain.Subject, result R) error {
	if h.After == nil {
		return nil
	}
	subject, result = subject.Clone(), result.Clone()
	return ports.AfterCommit(s, func(ctx context.Context) {
		_ = contain(func() error {
			h.After(ctx, subject, result)
			return nil
		})
	})
}

// Panicked is the error of a hook that panicked. It does not have the value, which may hold anything.
type Panicked struct{}

func (*Panicked) Error() string { return "habeas: a hook panicked" }

// contain calls a function. A panic of it becomes the error *Panicked.
func contain(call func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = &Panicked{}
		}
	}()
	return call()
}

// OutcomeOf is domain.OutcomeOf, and domain.OutcomePanic for a panic.
func OutcomeOf(err error) domain.Outcome {
	if _, panicked := err.(*Panicked); panicked { //nolint:errorlint // as contain returns it
		return domain.OutcomePanic
	}
	return domain.OutcomeOf(err)
}

// classOf is domain.ErrorClass, and "panic" for a panic.
func classOf(err error) string {
	if _, panicked := err.(*Panicked); panicked { //nolint:errorlint // as contain returns it
		return "panic"
	}
	return domain.ErrorClass(err)
}
