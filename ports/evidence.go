package ports

import (
	"context"
	"time"
)

type evidenceDeadline struct{}

// WithEvidenceDeadline returns a context whose sessions have until the deadline to write evidence (see AuditLog).
//
// A SessionFactory writes the evidence of a failure after the session has ended, and the session may have ended because
// its context did. The deadline says how long the caller still waits. It should be later than the deadline of ctx, so
// that time is left for evidence.
func WithEvidenceDeadline(ctx context.Context, deadline time.Time) context.Context {
	return &withEvidenceDeadline{ctx, deadline}
}

// withEvidenceDeadline is a context with one value. context.WithValue would allocate twice, for every request.
type withEvidenceDeadline struct {
	context.Context
	deadline time.Time
}

// Value implements context.Context.
func (c *withEvidenceDeadline) Value(key any) any {
	if key == (evidenceDeadline{}) {
		return c.deadline
	}
	return c.Context.Value(key)
}

// EvidenceDeadline returns the deadline that WithEvidenceDeadline gave to ctx, and false if there is none. A
// SessionFactory stops writing evidence at this time. If there is none, the SessionFactory chooses a limit of its own.
func EvidenceDeadline(ctx context.Context) (time.Time, bool) {
	deadline, ok := ctx.Value(evidenceDeadline{}).(time.Time)
	return deadline, ok
}
