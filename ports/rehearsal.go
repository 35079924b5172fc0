package ports

import "context"

type rehearsing struct{}

// WithRehearsal returns a context for which Rehearsing returns true. Only the method Rehearse of a SessionFactory calls
// WithRehearsal, to create the context that it passes to the function of the session.
func WithRehearsal(ctx context.Context) context.Context {
	return context.WithValue(ctx, rehearsing{}, true)
}

// Rehearsing reports whether ctx belongs to a session that SessionFactory.Rehearse opened. A hook of the application
// calls it to skip actions that a rollback cannot undo, such as a call to another system.
func Rehearsing(ctx context.Context) bool { return ctx.Value(rehearsing{}) != nil }
