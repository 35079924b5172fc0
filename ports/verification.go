package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// ErasureVerifier is the part of a SubjectStore that looks for what an erasure should have deleted or overwritten. The
// SubjectStore of the stores of this module implements it; VerifierOf finds it. It only reads.
type ErasureVerifier interface {
	// LeftOver counts, for the local steps of a plan at the instant of an erasure (domain.Plan.LocalAt):
	//
	//   - for a step that deletes, the rows of the subject that are there;
	//   - for a step that anonymizes, by column, the cells of the subject's rows that domain.Column.IsLeftOver reports,
	//     and the references of Clears that are not NULL. Of the columns Expired, these are the cells whose duty was over.
	//
	// Columns that no export shows count like others. The findings are in the order of the steps, and empty if there is
	// nothing. The number of statements does not depend on that of rows.
	//
	// A value that the application has written into a row after the erasure counts: nothing tells it from an old one. A
	// row that was added after the erasure does not count if domain.Table.AddedAt has a later instant for it, or for a row
	// over which it leads to the subject. If the subject's own row was added after the erasure, the id was given away
	// again, and nothing counts. The instants of the application's clocks and of the mark are compared as they are.
	//
	// Rows are found as by SubjectStore.Apply. Those whose own columns hold the subject's key are found also if the
	// subject's own row is gone. Rows that are further away, or that refer to another column of the subject's row, are
	// found only while the rows over which they lead to the subject are there. To find others, search for their values.
	//
	// Returns ErrManifest for steps that Apply refuses because of the data map, ErrConfiguration if the database may hide
	// rows of the subject, and ErrSubject as SubjectStore.Lock does.
	LeftOver(
		ctx context.Context, id domain.SubjectID, steps []domain.Step, erasedAt time.Time,
	) (domain.Leftovers, error)
}

// VerifierOf returns the verifier of a SubjectStore. Returns domain.ErrConfiguration if the store has none.
func VerifierOf(subjects SubjectStore) (ErasureVerifier, error) {
	if verifier, ok := subjects.(ErasureVerifier); ok {
		return verifier, nil
	}
	return nil, domain.Misconfigured("verify", "the store does not implement ports.ErasureVerifier")
}
