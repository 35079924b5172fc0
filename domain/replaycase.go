package domain

import (
	"slices"
	"time"
)

// ReplayCase is the evidence on which a replay decides whether it erases a subject again. A replay repeats the erasures
// of a journal after a restore. It judges the lines of the journal, and not the life of the id: an erasure that the
// database does not record must be repeated, whoever has the id.
type ReplayCase struct {
	Mark ErasureMark  // the subject's mark, the row that records its erasures; the zero value if there is none
	Row  LifeEvidence // the evidence about the subject's row
	// Unrecorded has an element for each line whose erasure the database does not record: the creation time of the line
	// (JournalEntry.AddedAt), or the zero time if the line has none. The order and duplicates have no meaning.
	Unrecorded []time.Time
	// Undone is true if the operator has named the instant to which the tables were restored, and this instant is before
	// the erasure of the mark. The row then may be the row of the erased person.
	Undone bool
	// Since is true if the erasure of the mark was made after the first replay with this instant. The restore has then
	// not undone it.
	Since bool
}

// ReplayVerdict is the decision of a replay about a subject.
type ReplayVerdict string

// The values of ReplayVerdict.
const (
	ReplayErase    ReplayVerdict = "erase"     // the subject must be erased again
	ReplayCurrent  ReplayVerdict = "current"   // the database records the erasure, and the row does not contradict it
	ReplayNew      ReplayVerdict = "new"       // the row belongs to somebody who registered after the erasure
	ReplayOtherRow ReplayVerdict = "other_row" // the row has another creation time than the row that was erased
	ReplayUnclear  ReplayVerdict = "unclear"   // the evidence does not tell whose row it is
)

// Verdict judges the evidence. It compares no clocks, only creation times of rows with each other. If a line is not
// recorded, the subject must be erased. The exception is ReplayOtherRow: the row and all unrecorded lines have creation
// times, and none is the row's. If all lines are recorded, the first of these rules that applies decides:
//
//  1. Without a row, or if the row holds the distinctive surrogates of the erasure, nothing is left to do: current.
//  2. If Registered was called since the erasure for the row that stands there, the person is new. If Undone is true
//     and the row has no creation time, the row can also be a restored one: unclear.
//  3. If the row was created after the row that the erasure found, the person is new.
//  4. If both have the same creation time, with fractions of a second, the erasure decides. If it deletes the row, a
//     restore has brought the row back: erase. If it keeps the row, all distinctive columns are NULL, and Undone is
//     false: current.
//  5. If the row was created before the row that the erasure found, it is another row.
//  6. If Since is true, the erasure is later than the restore: current.
//  7. If Undone is true, the subject must be erased.
//  8. Otherwise it is unclear: the row was restored, or the person was registered again.
func (c ReplayCase) Verdict() ReplayVerdict {
	row, erased := c.Row.AddedAt, c.Mark.AddedAt
	comparable := !row.IsZero() && !erased.IsZero()
	switch {
	case len(c.Unrecorded) > 0 && c.isOfNoLine():
		return ReplayOtherRow
	case len(c.Unrecorded) > 0:
		return ReplayErase
	case !c.Row.Present || c.Row.Erased:
		return ReplayCurrent
	case c.Mark.isRegistered(c.Row) && c.Undone && row.IsZero():
		return ReplayUnclear
	case c.Mark.isRegistered(c.Row):
		return ReplayNew
	case c.Row.isBlankOf(c.Mark) && !c.Undone:
		return ReplayCurrent
	case comparable && row.After(erased):
		return ReplayNew
	case comparable && row.Equal(erased) && row.Nanosecond() != 0 && c.Row.Deletes:
		return ReplayErase
	case comparable && row.Before(erased):
		return ReplayOtherRow
	case c.Since:
		return ReplayCurrent
	case c.Undone:
		return ReplayErase
	default:
		return ReplayUnclear
	}
}

// isOfNoLine reports whether the row and all unrecorded lines have creation times, and none is the row's.
func (c ReplayCase) isOfNoLine() bool {
	return c.Row.Present && !c.Row.AddedAt.IsZero() && !slices.ContainsFunc(c.Unrecorded, func(line time.Time) bool {
		return line.IsZero() || line.Equal(c.Row.AddedAt)
	})
}
