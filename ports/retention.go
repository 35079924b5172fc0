package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// RetentionSweeper overwrites retained cells after the end of their duty (Art. 17(1)(a) and Art. 5(1)(e) GDPR). A
// retained cell is a cell that an erasure has kept because the law required this. The duty is the legal obligation to
// keep the cell. The data map determines the instant at which the duty ends. Due and Sweep receive the steps that
// domain.Plan.SweepAt returns. The rules for errors about steps are the same as for SubjectStore.Apply.
//
// In the stores of this module, the SubjectStore also implements RetentionSweeper. The function SweeperOf returns the
// RetentionSweeper of a SubjectStore.
type RetentionSweeper interface {
	// Due selects subjects of the given marks (records of erasures), and returns them in the order of the marks. It
	// selects every subject for which Sweep would overwrite a cell. It may also select subjects for which Sweep overwrites
	// nothing. Due only reads. The number of its statements depends only on the number of marks.
	Due(ctx context.Context, marks []domain.ErasureMark, steps []domain.Step) ([]domain.SubjectID, error)

	// SweptKeys returns the keys of an external system in the cells that Sweep would overwrite at the instant
	// query.ErasedAt. The form, the order and the paging of the keys are the same as for SubjectStore.Keys. SweptKeys
	// takes the same locks as Sweep, so that no other transaction can change the cells. If Sweep follows in the same
	// session with steps for the same instant, it overwrites exactly the cells that hold these keys. SweptKeys returns no
	// key if the subject was never erased, or if query.ErasedAt is zero.
	SweptKeys(ctx context.Context, id domain.SubjectID, query domain.KeyQuery) ([]string, error)

	// Sweep overwrites retained cells of the subject: cells that the last erasure has kept. It overwrites a cell in a
	// column of a step if the duty (the legal obligation to keep the cell) is over at the instant domain.Step.At. Sweep
	// returns, for each step, the number of rows in which it has overwritten a cell. For a subject that was never erased,
	// Sweep does nothing. Sweep takes the same locks as SubjectStore.Lock. In the mark (the record of the erasure), it
	// changes only SweptAt.
	//
	// Sweep skips these cells:
	//
	//   - a cell that is NULL
	//   - a cell that holds a surrogate (a value with which an erasure overwrites personal data), if
	//     domain.Column.RecognizesSurrogate is true for the column
	//   - a cell of a column for which domain.Column.RecognizesSurrogate is false, if the cell's duty was already over at
	//     the last erasure or sweep of the subject (that erasure or sweep has overwritten the cell)
	//   - a cell in a row without a distinctive surrogate in a column of domain.Path.Identifying, unless the life of the
	//     id has ended (see domain.Life): the row may belong to a new person with the same id
	//
	// If domain.Step.DutiesSince is after the last erasure or sweep of the subject, that erasure or sweep may have
	// followed other duties. Sweep then overwrites each cell that is due in a column for which RecognizesSurrogate is
	// false.
	//
	// A second call of Sweep with the same steps overwrites nothing more. SubjectStore.Apply describes the values that
	// Sweep writes. If Sweep fails, the caller must roll back, and len(rows) has the same meaning as for Apply.
	Sweep(ctx context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error)
}

// SweeperOf returns the sweeper of a SubjectStore. SweeperOf returns domain.ErrConfiguration if the store does not
// implement RetentionSweeper.
func SweeperOf(subjects SubjectStore) (RetentionSweeper, error) {
	if sweeper, ok := subjects.(RetentionSweeper); ok {
		return sweeper, nil
	}
	return nil, domain.Misconfigured("sweep", "the store does not implement ports.RetentionSweeper")
}
