package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// ErasureMarks reads the marks of erasures. A mark is a stored record that a subject was erased (see
// domain.ErasureMark). SubjectStore.Lock writes the marks. Each mark has a sequence number, the Intake.
//
// ErasureMarks also stores a position for each reader. An example of a reader is a job of the application that
// processes the marks. The position of a reader is the Intake of the last mark that the reader has read.
//
// The function MarksOf returns the ErasureMarks of a session that implements MarkReader. The sessions of the stores of
// this module implement MarkReader. Advance counts as a write of the session, and SubjectStore.Export fails after a
// write. The other methods only read.
type ErasureMarks interface {
	// Marks returns the marks that match the query, in ascending order of domain.ErasureMark.Intake, a sequence number of
	// the erasures. It returns at most query.Limit marks. To read all marks, call Marks again with the last Intake as
	// query.After, until Marks returns no mark. The cost of a call does not depend on the number of marks whose Intake is
	// at most query.After. If query.Since or query.Until is set, the cost grows with the number of marks that Marks must
	// skip.
	//
	// A reader that continues from the last Intake misses no mark, even if clocks differ, or if sessions do not commit in
	// the order in which they wrote their marks. To ensure this, a mark that commits later always has a higher Intake than
	// every mark that Marks has returned before. If a session that has written a mark is still open, Marks leaves out all
	// marks with a higher Intake until this session has ended. Marks may leave out the marks of its own session.
	//
	// If a subject is erased again between two calls, Marks returns the mark of the subject again, with the new instant.
	// No mark is ever removed.
	//
	// Marks returns domain.ErrSession if the session is part of a transaction of the application whose isolation level is
	// not READ COMMITTED. Such a transaction does not see marks that are committed while it runs.
	Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error)

	// Find returns the erasure marks of the given subjects, in no defined order. It leaves out subjects that were never
	// erased. It uses one statement. It does not return marks that are not committed.
	Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error)

	// Lives judges the lives of the given marks by the rows that the subject's table has now (see
	// domain.ErasureMark.Life). The result has one element for each mark, in the same order. A subject whose id does not
	// fit the key of the subject's table has no row. The number of statements is at most one for every 50 marks, and one
	// more.
	Lives(ctx context.Context, marks []domain.ErasureMark) ([]domain.Life, error)

	// Position returns the position that Advance last stored for a reader: the Intake (the sequence number) of the last
	// mark that the reader has read. It returns 0 if Advance has stored none. All processes that share the work of one
	// reader use the same name for it. Position returns domain.ErrInvalid if the name of the reader does not have 1 to
	// domain.MaxTextLength characters.
	Position(ctx context.Context, reader string) (int64, error)

	// Advance changes the stored position of a reader from expected to next, and returns true. If the stored position
	// differs from the parameter expected, Advance changes nothing and returns false. Therefore, if several processes
	// concurrently advance from the same position, only one of them changes it. Advance returns domain.ErrInvalid for a
	// name that Position refuses.
	Advance(ctx context.Context, reader string, expected, next int64) (advanced bool, err error)
}

// MarksOf returns the ErasureMarks of a session. MarksOf returns domain.ErrConfiguration if the session does not
// implement MarkReader.
func MarksOf(s Session) (ErasureMarks, error) {
	if reader, ok := s.(MarkReader); ok {
		return reader.Marks(), nil
	}
	return nil, domain.Misconfigured("marks", "the store does not implement ports.MarkReader")
}
