package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// ErasureMarks reads the marks that erasures leave (SubjectStore.Lock), and keeps how far readers of them have come.
// The sessions of the stores of this module have it; MarksOf finds it. Its calls are no write for SubjectStore.Export,
// but for Advance.
type ErasureMarks interface {
	// Marks returns the marks that match the query, in the order of domain.ErasureMark.Intake, and at most as many as its
	// limit says. A caller that wants all of them calls again with the last Intake as After, until none is returned. The
	// cost of a page does not depend on how many marks there are before it. Since and Until are compared with each mark
	// that the page passes over.
	//
	// A mark that commits later comes after each one that was returned before: a reader that goes on from the last Intake
	// misses none, whatever the clocks say and in whatever order sessions commit. For this, Marks returns no mark that was
	// left after another one whose session is still open. That mark is returned once the other session has ended. The
	// marks that the session of the call leaves itself need not be returned.
	//
	// A subject that is erased again between two calls is returned again, with the new instant. No mark is ever removed.
	//
	// Returns domain.ErrSession if the session is part of a transaction of the application that does not see each commit
	// (its isolation level is not READ COMMITTED).
	Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error)

	// Find returns the marks of those of the subjects that were erased, in no order, by one statement. A mark that is not
	// committed is not found.
	Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error)

	// Position returns how far a reader has come: the last value that Advance has written, or 0. A reader is a name of 1
	// to domain.MaxTextLength characters, the same for all processes that share the work.
	Position(ctx context.Context, reader string) (int64, error)

	// Advance moves the position of a reader from one value to another, if it is still at from. It reports whether it was.
	// Of several processes that advance from the same position at the same time, one moves it.
	Advance(ctx context.Context, reader string, from, to int64) (moved bool, err error)
}

// MarksOf returns the erasure marks of a session. Returns domain.ErrConfiguration if its store has none.
func MarksOf(s Session) (ErasureMarks, error) {
	if reader, ok := s.(MarkReader); ok {
		return reader.Marks(), nil
	}
	return nil, domain.Misconfigured("marks", "the store does not implement ports.MarkReader")
}
