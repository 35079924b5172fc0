package domain

import "time"

// ErasureMark is what the erasures of a subject leave in the store. There is one for each subject: another erasure of
// the subject gives it a new instant and a new Intake.
type ErasureMark struct {
	SubjectID SubjectID
	ErasedAt  time.Time // the instant of the last erasure, as the clock of its process had it
	Erasures  int64     // how many erasures of the subject there were
	Intake    int64     // the place of the last erasure in the order of intake; above 0
	SweptAt   time.Time // the instant of the last sweep that overwrote something of the subject; zero for none
}

// MarkQuery says which marks are listed. The zero value lists none.
type MarkQuery struct {
	After int64     // only marks whose Intake is above it
	Since time.Time // only marks with this instant or a later one; zero for any
	Until time.Time // only marks with an earlier instant; zero for any
	Limit int       // how many marks are returned at most; 0 or less stands for none
}

// Matches reports whether a mark is one that the query lists, whatever its limit is.
func (q MarkQuery) Matches(m ErasureMark) bool {
	return m.Intake > q.After && (q.Since.IsZero() || !m.ErasedAt.Before(q.Since)) &&
		(q.Until.IsZero() || m.ErasedAt.Before(q.Until))
}

// CheckReader returns ErrInvalid for a name that no reader of marks can have: one that is empty or longer than
// MaxTextLength characters.
func CheckReader(name string) error { return Invalid("reader", CheckText("reader", name, 1)) }
