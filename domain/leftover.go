package domain

import (
	"slices"
	"time"
)

// Leftover is data that a verification found, although an erasure should have deleted or overwritten it. It contains
// the names of a table and a column, never a value. It is safe to log.
type Leftover struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"` // empty for rows that should have been deleted
	Rows   int64  `json:"rows"`             // a row that several paths connect to the subject counts once for each path
}

// Leftovers are the results of a verification, in the order in which the verification found them. Each pair of a table
// and a column occurs once.
type Leftovers []Leftover

// Add returns l with the given number of rows added to the Leftover of the table and the column. If l has no such
// Leftover, Add appends one. If rows is 0, Add returns l unchanged. Add may modify the elements of l.
func (l Leftovers) Add(table, column string, rows int64) Leftovers {
	if rows == 0 {
		return l
	}
	i := slices.IndexFunc(l, func(found Leftover) bool { return found.Table == table && found.Column == column })
	if i < 0 {
		return append(l, Leftover{table, column, rows})
	}
	l[i].Rows += rows
	return l
}

// Verification is the result of a search for data that an erasure should have deleted or overwritten. See
// ports.ErasedStore for the limits of the search.
type Verification struct {
	SubjectID  SubjectID `json:"subject_id"`
	ErasedAt   time.Time `json:"erased_at"` // the instant of the last erasure of the subject
	VerifiedAt time.Time `json:"verified_at"`
	LeftOver   Leftovers `json:"left_over"` // empty if the erasure is verified
	// Life is the life of the id if it has not ended. The erasure was then not checked, because the rows may belong to a
	// new person with the same id: LeftOver is from the audit trail, of verifications before. It is "" if the erasure was
	// checked.
	Life Life `json:"life,omitempty"`
	// Cleared reports that an operator has cleared LeftOver, see verification.Verifier.Clear.
	Cleared bool `json:"cleared,omitempty"`
}
