package domain

import (
	"time"
)

// Life is the state of a subject id that has an erasure mark (the row that records its erasures). An id can be given
// again: numbers are reused, people register again under a natural key, and backups return. Life tells whether the
// subject's row belongs to the erased person. Each part of this module acts on it:
//
//	                     new                     ended         unknown
//	sweep                rows with surrogates    all due       as new
//	verification         not checked             checks        not checked
//	export, history      records after the mark  as new        as new
//	marks of an export   none                    as erased     as erased
//	consent, restriction records after the mark  all records   as new
//	rectification        carried out             refused       carried out
//
// The records after the mark are the records of the ledgers above ErasureMark.ConsentsUntil and RestrictionsUntil.
type Life string

// The values of Life. An id that was never erased has no Life, which is the empty text.
const (
	LifeNew     Life = "new"     // the row belongs to somebody who registered after the erasure
	LifeEnded   Life = "ended"   // the row is gone, or it is the one that the erasure has overwritten or deleted
	LifeUnknown Life = "unknown" // the evidence does not tell
)

// LifeEvidence is the evidence about the subject's own row, on which Life is judged.
type LifeEvidence struct {
	// Present is true if the subject's table has a row of the subject. All other fields describe this row.
	Present bool
	// AddedAt is the creation time of the row (see plan.AddedAt). It is zero if there is none.
	AddedAt time.Time
	// Deletes is true if the erasure plan deletes the row.
	Deletes bool
	// Erased is true if the row holds the distinctive surrogates of an erasure (see plan.IsErased).
	Erased bool
	// Blank is true if all columns that could hold a distinctive surrogate are NULL (see plan.IsBlank).
	Blank bool
}

// Tells reports whether the creation time of a row tells the row from those that were created in the same second. Some
// types of columns have no fractions of a second.
func (e LifeEvidence) Tells() bool { return e.AddedAt.Nanosecond() != 0 }

// isBlankOf reports whether the row has no distinctive values, but the creation time of the row that the erasure found.
func (e LifeEvidence) isBlankOf(m ErasureMark) bool {
	return e.Blank && !e.Deletes && e.Tells() && e.AddedAt.Equal(m.AddedAt)
}

// Life judges the evidence. It compares no clocks, only creation times of rows with each other. The first of these
// rules that applies decides:
//
//  1. Without a row, the life is ended.
//  2. If Registered was called since the last erasure for the row that stands there, and this is not the row that the
//     erasure has deleted, the life is new.
//  3. If the row was created after the row that the erasure found, the life is new. If it was created before that row,
//     the life is unknown. If both have the same creation time, with fractions of a second, it is the same row: the
//     life is ended if the erasure deletes the row, because a restore has brought it back.
//  4. If the erasure keeps the row, the life is ended in two cases: the row holds at least one distinctive surrogate of
//     the erasure, and nothing else but NULL in the other distinctive columns; or all of them are NULL, and the row has
//     the creation time of the row that the erasure found, with fractions of a second.
//  5. Otherwise the life is unknown: the person was registered again, or the row was restored.
//
// Records in the ledgers are no evidence, because they may have been taken in for either person. A mark without
// erasures only divides the ledgers, and Life returns "".
func (m ErasureMark) Life(e LifeEvidence) Life {
	if m.Erasures == 0 {
		return ""
	}
	deletedRow := e.Deletes && !m.AddedAt.IsZero() && e.AddedAt.Equal(m.AddedAt)
	switch {
	case !e.Present:
		return LifeEnded
	case m.isRegistered(e):
		return LifeNew
	case !e.AddedAt.IsZero() && !m.AddedAt.IsZero() && e.AddedAt.After(m.AddedAt):
		return LifeNew
	case !e.AddedAt.IsZero() && !m.AddedAt.IsZero() && e.AddedAt.Before(m.AddedAt):
		return LifeUnknown
	case deletedRow && e.Tells():
		return LifeEnded
	case !e.Deletes && e.Erased, e.isBlankOf(m):
		return LifeEnded
	default:
		return LifeUnknown
	}
}

// isRegistered reports whether Registered was called since the last erasure for the row that stands there. The row that
// the erasure has deleted is never such a row, because only a restore brings it back.
func (m ErasureMark) isRegistered(e LifeEvidence) bool {
	deletedRow := e.Deletes && !m.AddedAt.IsZero() && e.AddedAt.Equal(m.AddedAt)
	return !m.RegisteredAt.IsZero() && !deletedRow && (e.AddedAt.IsZero() || e.AddedAt.Equal(m.RegisteredAddedAt))
}

// HoldsErased reports whether cells of the subject may hold what the erasure has written. The cells of a new life never
// do: a 0 or a false is then a value.
func (l Life) HoldsErased() bool { return l == LifeEnded || l == LifeUnknown }

// KeepsEarlier reports whether the records of an earlier life count for the current status of consents and
// restrictions. They count only after the life has ended: nobody else has the id, and a restriction stays in force
// (Art. 18(2) GDPR).
func (l Life) KeepsEarlier() bool { return l == LifeEnded }
