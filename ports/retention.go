package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// RetentionSweeper is the part of a SubjectStore that overwrites retained cells once their duty is over (Art. 17(1)(a)
// and Art. 5(1)(e) GDPR). The SubjectStore of the stores of this module implements it; SweeperOf finds it. Steps are
// those of domain.Plan.SweepAt. The errors of steps are those of SubjectStore.Apply.
type RetentionSweeper interface {
	// Due returns the subjects for which Sweep may find something to overwrite, in the order of their marks. It leaves out
	// no subject for which Sweep would, and may return others. It only reads, by a number of statements that depends on
	// that of the marks alone.
	Due(ctx context.Context, marks []domain.ErasureMark, steps []domain.Step) ([]domain.SubjectID, error)

	// Sweep takes the locks of SubjectStore.Lock, without changing the mark of the erasure, and overwrites the cells of
	// the steps that the last erasure of the subject has left because of a duty which is over by now. It returns for each
	// step in how many rows it has overwritten a cell. A subject that was never erased is left alone.
	//
	// A cell is left alone if it is NULL or holds what an erasure writes, by domain.Column.Recognizes; if the column does
	// not tell that, a cell is left alone if its duty was over at the last erasure or the last sweep of the subject. If
	// the subject may have come back, a cell is left alone if its duty began after the erasure: the row may be a new one.
	// The subject may have come back if its table has a row of the subject for which domain.Table.IsErased is false.
	//
	// Sweeping again overwrites nothing more. Values and rows are as SubjectStore.Apply says for domain.Step.Expired. On
	// an error, len(rows) is as for Apply, and the caller must roll back.
	Sweep(ctx context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error)
}

// SweeperOf returns the sweeper of a SubjectStore. Returns domain.ErrConfiguration if the store has none.
func SweeperOf(subjects SubjectStore) (RetentionSweeper, error) {
	if sweeper, ok := subjects.(RetentionSweeper); ok {
		return sweeper, nil
	}
	return nil, domain.Misconfigured("sweep", "the store does not implement ports.RetentionSweeper")
}
