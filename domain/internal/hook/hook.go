// Package hook calls functions of the application before and after an operation and recovers their panics.
package hook

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Target is the target of a hook in the payload of an event.
const Target = "hook"

// Hooks holds the hooks of an operation with results of the type R. A hook is nil if it is not set.
type Hooks[R interface{ Clone() R }] struct {
	// Before is called in the transaction of an operation, before the operation changes data of the application.
	Before func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// After is called after the commit.
	After func(ctx context.Context, subject domain.Subject, result R)
}

// CallBefore calls Before and returns its error, or *Panicked for a panic. It then appends the event that failed makes
// of a payload as evidence.
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
	_ = s.Audit().AppendEvidence(ctx, event) // the caller returns err; Do reports lost evidence
	return err
}

// CallAfter registers the call of After for the time after the commit, with copies of the subject and the result. It
// returns domain.ErrConfiguration if After is set and the session does not implement ports.CommitNotifier.
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

// Panicked is the error of a hook that panicked. It omits the value of the panic, which may hold personal data.
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

// OutcomeOf returns domain.OutcomePanic for a panic, else domain.OutcomeOf.
func OutcomeOf(err error) domain.Outcome {
	if _, panicked := err.(*Panicked); panicked { //nolint:errorlint // as contain returns it
		return domain.OutcomePanic
	}
	return domain.OutcomeOf(err)
}

// classOf returns "panic" for a panic, else domain.ErrorClass.
func classOf(err error) string {
	if _, panicked := err.(*Panicked); panicked { //nolint:errorlint // as contain returns it
		return "panic"
	}
	return domain.ErrorClass(err)
}
