package ports

import (
	"context"
	"time"
)

type evidenceDeadline struct{}

// WithEvidenceDeadline returns a context that limits the time for writing evidence, the audit events that a
// SessionFactory writes even if the session rolls back (see AuditLog.AppendEvidence).
//
// A SessionFactory writes the evidence of a failure after the session has ended. It stops this write at the latest at
// the given deadline, and not at the deadline of ctx, because the end of ctx may have caused the failure. Pass the
// instant until which the caller of SessionFactory.Do still waits. This instant should be later than the deadline of
// ctx, so that time is left for the evidence.
func WithEvidenceDeadline(ctx context.Context, deadline time.Time) context.Context {
	return &withEvidenceDeadline{ctx, deadline}
}

// withEvidenceDeadline is a context with one value. It needs one allocation for each request. context.WithValue needs
// two.
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
// SessionFactory stops writing evidence at this deadline. It stops earlier if its own time limit ends before the
// deadline. Without a deadline, only the time limit of the SessionFactory applies.
func EvidenceDeadline(ctx context.Context) (time.Time, bool) {
	deadline, ok := ctx.Value(evidenceDeadline{}).(time.Time)
	return deadline, ok
}
