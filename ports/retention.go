package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// RetentionSweeper overwrites retained cells once their duty is over (Art. 17(1)(a) and Art. 5(1)(e) GDPR). The
// SubjectStore of the stores of this module implements RetentionSweeper. SweeperOf returns the RetentionSweeper of a
// SubjectStore. The steps are the steps that domain.Plan.SweepAt returns. Errors about steps are as for
// SubjectStore.Apply.
type RetentionSweeper interface {
	// Due returns the subjects for which Sweep may overwrite a cell, in the order of their marks. It returns every subject
	// for which Sweep would overwrite a cell. It may also return other subjects. Due only reads. The number of its
	// statements depends only on the number of marks.
	Due(ctx context.Context, marks []domain.ErasureMark, steps []domain.Step) ([]domain.SubjectID, error)

	// SweptKeys returns keys of an external system, as SubjectStore.Keys returns them, from the cells that Sweep would
	// overwrite at ErasedAt of the query. It takes the locks of Sweep. If it is called before Sweep in one session, the
	// cells that Sweep overwrites hold exactly the keys that SweptKeys returns. SweptKeys returns no key if the subject
	// was never erased, or if ErasedAt is zero.
	SweptKeys(ctx context.Context, id domain.SubjectID, query domain.KeyQuery) ([]string, error)

	// Sweep overwrites the cells of the steps that the last erasure of the subject kept because of a duty that is over
	// now. It takes the locks of SubjectStore.Lock. It changes only SweptAt of the mark of the erasure. It returns, for
	// each step, the number of rows in which it has overwritten a cell. Sweep does nothing for a subject that was never
	// erased.
	//
	// Sweep skips a cell that is NULL. If domain.Column.RecognizesSurrogate is true for the column, Sweep skips a cell
	// that holds a surrogate of the column. If it is false, Sweep skips a cell whose duty was over at the last erasure or
	// at the last sweep of the subject.
	//
	// An application may create a subject again under the id of an erased subject. Sweep assumes this if the subject's
	// table has a row of the subject for which domain.Table.IsErased is false. Sweep then skips cells whose duty began
	// after the erasure, because their row may be new.
	//
	// A second Sweep with the same steps overwrites nothing more. The values and the counted rows are as
	// SubjectStore.Apply describes them for domain.Step.Expired. On error, len(rows) is as for Apply, and the caller must
	// roll back.
	Sweep(ctx context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error)
}

// SweeperOf returns the sweeper of a SubjectStore. Returns domain.ErrConfiguration if the store does not implement
// RetentionSweeper.
func SweeperOf(subjects SubjectStore) (RetentionSweeper, error) {
	if sweeper, ok := subjects.(RetentionSweeper); ok {
		return sweeper, nil
	}
	return nil, domain.Misconfigured("sweep", "the store does not implement ports.RetentionSweeper")
}
