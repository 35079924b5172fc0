package domain

import (
	"time"
)

// ErasureMark is the row that records the erasures of a subject in the store. Each erased subject has one mark. A
// further erasure of the subject updates the mark. A sweep updates SweptAt if it overwrites cells of the subject. A
// sweep overwrites retained cells after the end of their retention duty (the legal duty to keep a value).
type ErasureMark struct {
	SubjectID SubjectID
	ErasedAt  time.Time // the instant of the last erasure, see ErasureInstant
	Erasures  int64     // the number of erasures of the subject
	Intake    int64     // the sequence number of the last erasure in the store; starts at 1
	// After is the Intake of the mark before this one in the store, whether a query selects that mark or not. For the
	// first mark that a call of ports.ErasedStore.Marks reads, it is MarkQuery.After. Find leaves it zero.
	After int64
	// AddedAt is the creation time of the subject's row that the erasure found (see plan.AddedAt). It is zero if
	// the table has no such column or no erasure found a row with a value.
	AddedAt time.Time
	SweptAt time.Time // the instant of the last sweep that overwrote a cell of the subject; zero if there was no sweep
	// RegisteredAt is the instant at which the application has registered a new person under the id (see
	// ports.SubjectStore.Register). It is zero if that did not happen since the last erasure. RegisteredAddedAt is the
	// creation time of the row that was registered, or zero.
	RegisteredAt, RegisteredAddedAt time.Time
	// ConsentsUntil and RestrictionsUntil are numbers of records (plan.LedgerSeq) in the two ledgers, and RequestsUntil is
	// a number of a request. The records and requests of the subject up to these numbers belong to an earlier life of the
	// id. See Life.
	ConsentsUntil, RestrictionsUntil, RequestsUntil int64
}

// MaxClockError is the largest error of a clock that ErasureInstant corrects.
const MaxClockError = 24 * time.Hour

// ErasureInstant returns ErasureMark.ErasedAt of a new erasure. The parameter at is the instant by the clock of the
// process, clock is the instant by the clock of the database, and latest is the ErasedAt of the last mark, or zero.
//
// The result is clock, or latest if that is later, because the clocks of processes differ, and an earlier erasure must
// not have a later instant. If at and clock differ by more than a day, at is the time of a test or of a simulation, and
// ErasureInstant returns at. It ignores a latest that is more than a day after clock.
func ErasureInstant(at, clock, latest time.Time) time.Time {
	switch {
	case at.Sub(clock).Abs() > MaxClockError:
		return Instant(at)
	case latest.After(clock) && latest.Sub(clock) <= MaxClockError:
		return Instant(latest)
	default:
		return Instant(clock)
	}
}

// MarkQuery selects erasure marks (the rows that record erasures). The zero value selects no marks.
type MarkQuery struct {
	After int64     // only marks with a greater Intake
	Since time.Time // only marks with an ErasedAt at this instant or later; the zero time selects all
	Until time.Time // only marks with an ErasedAt before this instant; the zero time selects all
	Limit int       // the maximum number of marks; 0 or less selects no marks

	// Unsettled also selects the marks that a reader must not pass yet, because an open session may record an earlier one
	// (see ports.ErasedStore.Marks).
	Unsettled bool
}

// Matches reports whether the query selects the erasure mark. It ignores Limit and Unsettled.
func (q MarkQuery) Matches(m ErasureMark) bool {
	return m.Erasures > 0 && m.Intake > q.After && (q.Since.IsZero() || !m.ErasedAt.Before(q.Since)) &&
		(q.Until.IsZero() || m.ErasedAt.Before(q.Until))
}

// CheckReader returns ErrInvalid if name is not a valid name of a reader. A reader is a job that reads erasure marks in
// several steps. A name has 1 to MaxTextLength characters.
func CheckReader(name string) error { return Invalid("reader", CheckText("reader", name, 1)) }
