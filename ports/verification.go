package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// ErasureVerifier searches for data that an erasure should have deleted or overwritten. An ErasureVerifier only reads.
// In the stores of this module, the SubjectStore also implements ErasureVerifier. The function VerifierOf returns the
// ErasureVerifier of a SubjectStore.
type ErasureVerifier interface {
	// LeftOver counts the data of a subject that its erasure should have deleted or overwritten. The parameter steps holds
	// the local steps of the plan at the instant erasedAt of the erasure (see domain.Plan.LocalAt). The steps determine
	// what LeftOver counts:
	//
	//   - For a step that deletes, LeftOver counts the rows of the subject.
	//   - For a step that anonymizes, LeftOver counts cells of the subject's rows, separately for each column. A cell
	//     counts if domain.Column.IsLeftOver returns true for its value.
	//   - In a column of domain.Step.Clears, a cell counts if it is not NULL.
	//   - In a column of domain.Step.Expired, a cell counts only if its retention duty was over at the erasure.
	//
	// LeftOver counts nothing for a step with domain.Step.Self, because the step that deletes rows counts the rows to
	// which the references lead. LeftOver also counts columns that an export leaves out. The result is in the order of
	// the steps, and is empty if no data is left. The number of statements does not depend on the number of rows.
	//
	// The application may have added data after the erasure:
	//
	//   - A new value in an older row counts, because LeftOver cannot distinguish it from a value that the erasure has
	//     left.
	//   - A new row does not count. A row is new if the column that domain.Table.AddedAt returns holds an instant after
	//     erasedAt, in this row or in a row that connects it to the subject. The subject's own row always counts, because
	//     the clock that wrote its creation time may be ahead of the one that wrote erasedAt.
	//
	// LeftOver does not judge whether the rows belong to the erased person, see SubjectStore.State.
	//
	// These comparisons with erasedAt have no tolerance, although different clocks may have set the instants. LeftOver
	// reads the column as domain.EarliestAddedAt does, because a time without a zone may be a local time. A row that was
	// added up to 26 hours after the erasure may therefore count, but no older row is taken for a new one.
	//
	// LeftOver finds rows in the same way as SubjectStore.Apply. If the subject's own row was deleted, LeftOver still
	// finds rows whose columns hold the subject's key. It then misses rows that were connected to the subject through
	// deleted rows, and rows that refer to another column of the subject's row. To find these rows, search for their
	// values with a Finder.
	//
	// LeftOver returns domain.ErrManifest for steps that SubjectStore.Apply refuses because of the data map. LeftOver
	// returns domain.ErrConfiguration if the database may hide rows of the subject from the store. LeftOver returns
	// domain.ErrSubject for an id that SubjectStore.Lock refuses.
	LeftOver(
		ctx context.Context, id domain.SubjectID, steps []domain.Step, erasedAt time.Time,
	) (domain.Leftovers, error)
}

// VerifierOf returns the verifier of a SubjectStore. VerifierOf returns domain.ErrConfiguration if the store does not
// implement ErasureVerifier.
func VerifierOf(subjects SubjectStore) (ErasureVerifier, error) {
	if verifier, ok := subjects.(ErasureVerifier); ok {
		return verifier, nil
	}
	return nil, domain.Misconfigured("verify", "the store does not implement ports.ErasureVerifier")
}
