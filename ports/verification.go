package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// ErasureVerifier searches for data that an erasure should have deleted or overwritten. The SubjectStore of the stores
// of this module implements ErasureVerifier. VerifierOf returns the ErasureVerifier of a SubjectStore. An
// ErasureVerifier only reads.
type ErasureVerifier interface {
	// LeftOver counts data that is left, for the local steps of a plan at the instant of an erasure (domain.Plan.LocalAt):
	//
	//   - For a step that deletes, it counts the rows of the subject.
	//   - For a step that anonymizes, it counts the cells of the subject's rows, by column. A cell counts if
	//     domain.Column.IsLeftOver is true for its value. A reference of Clears counts if it is not NULL. A cell of an
	//     Expired column counts only if its duty was over.
	//
	// LeftOver also counts columns that an export leaves out. The findings are in the order of the steps. The result is
	// empty if nothing is left. The number of statements does not depend on the number of rows.
	//
	// A value counts even if the application wrote it into a row after the erasure, because it cannot be distinguished
	// from an old value. A row does not count if its column domain.Table.AddedAt has an instant after the erasure. It does
	// not count either if a row that connects it to the subject has such an instant. If the subject's own row was added
	// after the erasure, the application has assigned the id again, and LeftOver counts no row or cell. LeftOver compares
	// the instants of the application's clocks with the instant of the mark without any tolerance.
	//
	// LeftOver finds rows as SubjectStore.Apply does. Rows whose own columns hold the subject's key are found even if the
	// subject's own row is gone. Rows that are further away, or that refer to another column of the subject's row, are
	// found only while the connecting rows exist. To find other rows, search for their values with a Finder.
	//
	// Returns ErrManifest for steps that Apply refuses because of the data map. Returns ErrConfiguration if the database
	// may hide rows of the subject. Returns ErrSubject as SubjectStore.Lock does.
	LeftOver(
		ctx context.Context, id domain.SubjectID, steps []domain.Step, erasedAt time.Time,
	) (domain.Leftovers, error)
}

// VerifierOf returns the verifier of a SubjectStore. Returns domain.ErrConfiguration if the store does not implement
// ErasureVerifier.
func VerifierOf(subjects SubjectStore) (ErasureVerifier, error) {
	if verifier, ok := subjects.(ErasureVerifier); ok {
		return verifier, nil
	}
	return nil, domain.Misconfigured("verify", "the store does not implement ports.ErasureVerifier")
}
