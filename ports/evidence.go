package ports

import (
	"context"
	"time"
)

type evidenceDeadline struct{}

// WithEvidenceDeadline returns a context whose sessions may write evidence until the deadline (see AuditLog).
//
// A SessionFactory writes the evidence of a failure after the session has ended. The end of the session's context may
// have caused the failure, so the deadline of ctx cannot bound the write. The evidence deadline is the time until which
// the caller still waits. It should be later than the deadline of ctx, so that time is left for the evidence.
func WithEvidenceDeadline(ctx context.Context, deadline time.Time) context.Context {
	return &withEvidenceDeadline{ctx, deadline}
}

// withEvidenceDeadline is a context with one value. It saves an allocation for each request, because context.WithValue
// would allocate twice.
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

// EvidenceDeadline returns the deadline that WithEvidenceDeadline set on ctx, and false if ctx has no such deadline. A
// SessionFactory stops writing evidence at the deadline, or earlier at a time limit that it sets. Without a deadline,
// only the limit of the SessionFactory applies.
func EvidenceDeadline(ctx context.Context) (time.Time, bool) {
	deadline, ok := ctx.Value(evidenceDeadline{}).(time.Time)
	return deadline, ok
}
