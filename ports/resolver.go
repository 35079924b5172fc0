package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Resolver answers for one external system that holds personal data. It is safe for concurrent use, opens no
// session, and honours the deadline of its context.
type Resolver interface {
	// Name identifies the system, in outbox entries, exports and the audit trail, and is the kind of the refs that go
	// to it. It never changes: entries that are waiting name it.
	Name() string

	// Export returns what the system holds about the subject that ref names. A subject that the system does not know
	// has no records, which is no error. Source is filled in by the caller.
	Export(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error)
}
