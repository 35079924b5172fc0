package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// ErasedStore works on the results of erasures. Sweeps, verifications, replays, the journal and the health checks use
// it:
//
//   - An erasure leaves a mark, see domain.ErasureMark. SubjectStore.Lock writes the mark. The methods Marks and Find
//     read marks, Lives judges them, and RecallRow completes one.
//   - Each reader of the marks has a position, such as the job that writes the journal. The position of a reader is the
//     Intake of the last mark that the reader has read. The methods Position and Advance read and change it. The
//     services also store other numbers in this way.
//   - An erasure retains cells if the law requires this. The duty is the legal obligation to keep a cell. The data map
//     determines the instant at which the duty ends. Due finds subjects with cells whose duty is over, SweptKeys
//     returns the keys in such cells, and Sweep overwrites the cells (Art. 17(1)(a) and Art. 5(1)(e) GDPR). Due and
//     Sweep receive the steps that plan.SweepAt returns. The rules for errors about steps are the same as for
//     SubjectStore.Apply.
//   - An erasure may leave data that it should have deleted or overwritten. LeftOver counts such data.
//
// Advance counts as a write of the session, and SubjectStore.Export fails after a write. The methods Marks, Find,
// Lives, Position, Due and LeftOver only read.
type ErasedStore interface {
	// Marks returns the marks that match the query, in ascending order of Intake. It returns at most query.Limit marks. To
	// read all marks, call Marks again with the last Intake as query.After, until Marks returns no mark. In a database,
	// the cost of a call does not depend on the number of marks whose Intake is at most query.After. If query.Since or
	// query.Until is set, the cost grows with the number of marks that Marks must skip.
	//
	// A reader that continues from the last Intake misses no mark, even if clocks differ, or if sessions do not commit in
	// the order in which they wrote their marks. To ensure this, a mark that commits later always has a higher Intake than
	// every mark that Marks has returned before. If a session that has written a mark is still open, Marks leaves out all
	// marks with a higher Intake until this session has ended, unless query.Unsettled is true. Marks may leave out the
	// marks of its own session.
	//
	// If a subject is erased again between two calls, Marks returns the mark of the subject again, with the new instant. A
	// mark that Marks has returned is never removed.
	//
	// On PostgreSQL, Marks returns domain.ErrSession if the session is part of a transaction of the application whose
	// isolation level is not READ COMMITTED. Such a transaction does not see marks that are committed while it runs.
	Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error)

	// Find returns the erasure marks of the given subjects, in no defined order. It leaves out subjects that were never
	// erased. It does not return marks that other sessions have not committed.
	Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error)

	// Lives judges the lives of the given marks by the rows that the subject's table has now (see
	// domain.ErasureMark.Life). The result has one element for each mark, in the same order. A subject whose id does not
	// fit the key of the subject's table has no row. The number of statements depends only on the number of marks.
	Lives(ctx context.Context, marks []domain.ErasureMark) ([]domain.Life, error)

	// Position returns the position that Advance last stored for a reader. It returns 0 if Advance has stored none. All
	// processes that share the work of one reader use the same name for it. Position returns domain.ErrInvalid if the name
	// of the reader does not have 1 to domain.MaxTextLength characters.
	Position(ctx context.Context, reader string) (int64, error)

	// Advance changes the stored position of a reader from expected to next, and returns true. If the stored position
	// differs from the parameter expected, Advance changes nothing and returns false. Therefore, if several processes
	// concurrently advance from the same position, only one of them changes it. Advance returns domain.ErrInvalid for a
	// name that Position refuses.
	Advance(ctx context.Context, reader string, expected, next int64) (advanced bool, err error)

	// Due selects subjects of the given marks, and returns them in the order of the marks. It selects every subject for
	// which Sweep would overwrite a cell. It may also select subjects for which Sweep overwrites nothing. Due only reads.
	// The number of its statements depends only on the number of marks.
	Due(ctx context.Context, marks []domain.ErasureMark, steps []datamap.Step) ([]domain.SubjectID, error)

	// SweptKeys returns the keys of an external system in the cells that Sweep would overwrite at the instant
	// query.ErasedAt. It leaves out each key that another cell in the subject's rows holds, such as a cell whose duty goes
	// on, or a cell in a row that was added after the erasure. The form, the order and the paging of the keys are the same
	// as for SubjectStore.Keys. SweptKeys takes the same locks as Sweep, so that no other transaction can change the cells
	// that Sweep overwrites. If Sweep follows in the same session with steps for the same instant, no cell in the
	// subject's rows holds one of these keys afterwards. SweptKeys returns no key if the subject was never erased, or if
	// query.ErasedAt is zero.
	SweptKeys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error)

	// Sweep overwrites retained cells of the subject: cells that the last erasure has kept. It overwrites a cell in a
	// column of a step if the duty is over at the instant datamap.Step.At. Sweep returns, for each step, the number of
	// rows in which it has overwritten a cell. For a subject that was never erased, Sweep does nothing. Sweep locks the
	// same rows as SubjectStore.Lock, and needs the same isolation level. In the mark, it changes only SweptAt.
	//
	// Sweep skips these cells:
	//
	//   - a cell that is NULL
	//   - a cell that holds a surrogate, if plan.RecognizesSurrogate is true for the column
	//   - a cell of a column for which plan.RecognizesSurrogate is false, if the cell's duty was already over at
	//     the last erasure or sweep of the subject (that erasure or sweep has overwritten the cell)
	//   - a cell in a row without a distinctive surrogate in a column of datamap.Path.Identifying, unless the life of the
	//     id has ended (see domain.Life): the row may belong to a new person with the same id
	//
	// If datamap.Step.DutiesSince is after the last erasure or sweep of the subject, that erasure or sweep may have
	// followed other duties. Sweep then overwrites each cell that is due in a column for which RecognizesSurrogate is
	// false.
	//
	// A second call of Sweep with the same steps overwrites nothing more. SubjectStore.Apply describes the values that
	// Sweep writes. If Sweep fails, the caller must roll back, and len(rows) has the same meaning as len(Rows) for Apply.
	Sweep(ctx context.Context, id domain.SubjectID, steps []datamap.Step) (rows []int64, err error)

	// LeftOver counts the data of a subject that its erasure should have deleted or overwritten. The parameter steps holds
	// the local steps of the plan at the instant erasedAt of the erasure (see plan.LocalAt). The steps determine
	// what LeftOver counts:
	//
	//   - For a step that deletes, LeftOver counts the rows of the subject.
	//   - For a step that anonymizes, LeftOver counts cells of the subject's rows, separately for each column. A cell
	//     counts if plan.IsLeftOver returns true for its value.
	//   - In a column of datamap.Step.ClearedColumns, a cell counts if it is not NULL.
	//   - In a column of datamap.Step.Expired, a cell counts only if its retention duty was over at the erasure.
	//
	// LeftOver counts nothing for a step with datamap.Step.Self, because the step that deletes rows counts the rows to
	// which the references lead. LeftOver also counts cells in columns that an export leaves out. The result is in the
	// order of the steps, and is empty if no data is left. The number of statements does not depend on the number of rows.
	//
	// The application may have added data after the erasure:
	//
	//   - A new value in an older row counts, because LeftOver cannot distinguish it from a value that the erasure has
	//     left.
	//   - A new row does not count. A row is new if the column that plan.AddedAt returns holds an instant after
	//     erasedAt, in this row or in a row that connects it to the subject. The subject's own row always counts, because
	//     the clock that wrote its creation time may be ahead of the one that wrote erasedAt.
	//
	// LeftOver does not judge whether the rows belong to the erased person, see SubjectStore.State.
	//
	// These comparisons with erasedAt do not allow for differences between clocks. LeftOver reads the column as
	// plan.EarliestAddedAt does, because a time without a zone may be a local time. A row with such a time that was
	// added up to 26 hours after the erasure may therefore count.
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
		ctx context.Context, id domain.SubjectID, steps []datamap.Step, erasedAt time.Time,
	) (domain.Leftovers, error)

	// RecallRow sets AddedAt of the mark that Lock has written for the subject in this session, if Lock has found no
	// creation time. A replay calls it with the creation time that a line of the journal has, because the row is not in
	// the restored database. RecallRow does nothing if the session has not locked the subject, or if addedAt is zero.
	RecallRow(ctx context.Context, id domain.SubjectID, addedAt time.Time) error
}
