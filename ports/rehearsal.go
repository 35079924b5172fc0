package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

type rehearsing struct{}

// WithRehearsal returns a context for which Rehearsing returns true. Only a Rehearser (it runs a session and rolls it
// back) calls WithRehearsal, to create the context that it passes to the function of the session.
func WithRehearsal(ctx context.Context) context.Context {
	return context.WithValue(ctx, rehearsing{}, true)
}

// Rehearsing reports whether ctx belongs to a session that Rehearser.Rehearse opened. A hook of the application calls
// it to skip actions that a rollback cannot undo, such as a call to another system.
func Rehearsing(ctx context.Context) bool { return ctx.Value(rehearsing{}) != nil }

// RehearserOf returns the session factory as a Rehearser. RehearserOf returns domain.ErrConfiguration if the session
// factory does not implement Rehearser.
func RehearserOf(sessions SessionFactory) (Rehearser, error) {
	if rehearser, ok := sessions.(Rehearser); ok {
		return rehearser, nil
	}
	return nil, domain.Misconfigured("session", "the session factory does not implement ports.Rehearser")
}
