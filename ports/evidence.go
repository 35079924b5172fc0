package ports

import (
	"context"
	"time"
)

type evidenceDeadline struct{}

// WithEvidenceDeadline returns a context that limits the time for writing evidence, the audit events that a
// SessionFactory writes even if the session rolls back (see AuditLog.AppendEvidence).
//
// A SessionFactory writes the evidence of a failure after the session has ended. It does not use the deadline of ctx
// for this write, because the end of ctx may have caused the failure. It uses the evidence deadline instead. The
// evidence deadline is the instant until which the caller of SessionFactory.Do still waits. It should be later than the
// deadline of ctx, so that time is left for the evidence.
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
// SessionFactory stops writing evidence (audit events that a rollback does not remove) at this deadline, or earlier if
// it has a shorter time limit. Without a deadline, only the time limit of the SessionFactory applies.
func EvidenceDeadline(ctx context.Context) (time.Time, bool) {
	deadline, ok := ctx.Value(evidenceDeadline{}).(time.Time)
	return deadline, ok
}
