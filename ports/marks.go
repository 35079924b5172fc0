package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// ErasureMarks reads the marks that erasures leave (see SubjectStore.Lock), and stores the positions of the readers of
// the marks. To get the ErasureMarks of a session, call MarksOf. The session must implement MarkReader, as the sessions
// of the stores of this module do. SubjectStore.Export must not follow a write of the session. Advance is such a write.
// The other methods are not.
type ErasureMarks interface {
	// Marks returns the marks that match the query, in the order of domain.ErasureMark.Intake, up to the limit of the
	// query. To read all marks, call Marks again with the last Intake as After, until it returns no mark. The cost of a
	// page does not depend on the number of marks before it. Since and Until are compared with each mark between After and
	// the end of the page.
	//
	// A mark that commits later comes after every mark that was returned before. A reader that continues from the last
	// Intake therefore misses no mark, independent of clocks and of the order of commits. For this, Marks returns no mark
	// that was left after another mark whose session is still open. Marks returns such a mark once the other session has
	// ended. Marks may leave out the marks of its own session.
	//
	// A subject that is erased again between two calls is returned again, with the new instant. No mark is ever removed.
	//
	// Returns domain.ErrSession if the session is part of a transaction of the application whose isolation level is not
	// READ COMMITTED. Such a transaction does not see each commit.
	Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error)

	// Find returns the marks of the given subjects that were erased, in no defined order, with one statement. It does not
	// return marks that are not committed.
	Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error)

	// Position returns the last position that Advance stored for a reader, or 0. The name of a reader has 1 to
	// domain.MaxTextLength characters. All processes that share the work use the same name. Returns domain.ErrInvalid for
	// another name.
	Position(ctx context.Context, reader string) (int64, error)

	// Advance sets the position of a reader to the parameter to if the position still equals the parameter from. It
	// reports whether it has changed the position. If several processes advance from the same position concurrently, only
	// one of them changes it. Returns domain.ErrInvalid for a name that Position refuses.
	Advance(ctx context.Context, reader string, from, to int64) (moved bool, err error)
}

// MarksOf returns the erasure marks of a session. Returns domain.ErrConfiguration if the session does not implement
// MarkReader.
func MarksOf(s Session) (ErasureMarks, error) {
	if reader, ok := s.(MarkReader); ok {
		return reader.Marks(), nil
	}
	return nil, domain.Misconfigured("marks", "the store does not implement ports.MarkReader")
}
