package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// ErasureLock reads and completes the mark that SubjectStore.Lock has written in the same session. A mark is the row
// that records an erasure (see domain.ErasureMark). In the stores of this module, the SubjectStore also implements
// ErasureLock. A SubjectStore that does not implement it stores the instant that Lock receives.
type ErasureLock interface {
	// ErasedAt returns ErasedAt of the mark that Lock has written for the subject in this session (see
	// domain.ErasureInstant). The erasure must use this instant for the ends of retention duties (the legal duties to keep
	// values), because later sweeps and verifications use the instant in the mark. It returns false if the session has not
	// locked the subject. It sends no statement.
	ErasedAt(id domain.SubjectID) (at time.Time, locked bool)

	// RecallRow sets AddedAt of the mark that Lock has written for the subject in this session, if Lock has found no
	// creation time. A replay calls it with the creation time that a line of the journal has, because the row is not in
	// the restored database. RecallRow does nothing if the session has not locked the subject, or if addedAt is zero.
	RecallRow(ctx context.Context, id domain.SubjectID, addedAt time.Time) error
}
