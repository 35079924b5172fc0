package domain

import "time"

// ErasureMark is the row that records the erasures of a subject in the store. Each erased subject has one mark. A
// further erasure of the subject updates ErasedAt, Erasures and Intake of the mark. A sweep updates SweptAt if it
// overwrites cells of the subject. A sweep overwrites retained cells after the end of their retention duty (the legal
// duty to keep a value).
type ErasureMark struct {
	SubjectID SubjectID
	ErasedAt  time.Time // the instant of the last erasure, by the clock of its process
	Erasures  int64     // the number of erasures of the subject
	Intake    int64     // the sequence number of the last erasure in the store; starts at 1
	SweptAt   time.Time // the instant of the last sweep that overwrote a cell of the subject; zero if there was no sweep
}

// MarkQuery selects erasure marks (the rows that record erasures). The zero value selects no marks.
type MarkQuery struct {
	After int64     // only marks with a greater Intake
	Since time.Time // only marks with an ErasedAt at this instant or later; the zero time selects all
	Until time.Time // only marks with an ErasedAt before this instant; the zero time selects all
	Limit int       // the maximum number of marks; 0 or less selects no marks
}

// Matches reports whether the query selects the erasure mark (the row that records erasures). It ignores Limit.
func (q MarkQuery) Matches(m ErasureMark) bool {
	return m.Intake > q.After && (q.Since.IsZero() || !m.ErasedAt.Before(q.Since)) &&
		(q.Until.IsZero() || m.ErasedAt.Before(q.Until))
}

// CheckReader returns ErrInvalid if name is not a valid name of a reader. A reader is a job of the application that
// reads erasure marks (the rows that record erasures) in several steps. A name has 1 to MaxTextLength characters.
func CheckReader(name string) error { return Invalid("reader", CheckText("reader", name, 1)) }
