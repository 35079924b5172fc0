package domain

import (
	"slices"
	"strings"
	"time"
)

// Leftover is what an erasure should have deleted or overwritten, and a verification has found. It names a table and a
// column, never a value, and is safe to log.
type Leftover struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"` // empty for rows that should have been deleted
	Rows   int64  `json:"rows"`             // a row that several paths lead from counts once for each of them
}

// Leftovers are findings of a verification, each table and column once, in the order in which they were found.
type Leftovers []Leftover

// Add counts rows of a table, or cells of a column. It returns the findings with the new ones; 0 changes nothing.
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

// Verification is the result of a search for what an erasure should have deleted or overwritten. See
// ports.ErasureVerifier for what it can find.
type Verification struct {
	SubjectID  SubjectID `json:"subject_id"`
	ErasedAt   time.Time `json:"erased_at"` // the last erasure of the subject, which was verified
	VerifiedAt time.Time `json:"verified_at"`
	LeftOver   Leftovers `json:"left_over"` // empty if the erasure is verified
}

// IsLeftOver reports whether a value of the column, as it is exported, is one that an erasure overwrites, and does not
// write itself. NULL and the empty text hold nothing, and are not left over.
//
// A value that an erasure could have written is not left over: 0, false, the start of 1970, an empty document or array,
// the constant of the column, any UUID of version 4, and in a text column of fewer than 17 characters any text of
// hexadecimal digits that fills the column.
func (c Column) IsLeftOver(value any) bool {
	return value != "" && !c.Overwritten(value)
}

// addedAt are the names of columns that say when a row was added, without underscores and in lower case.
var addedAt = []string{"createdat", "createdon", "created", "insertedat", "registeredat"}

// AddedAt returns the column that says when a row of the table was added: a column of instants, annotated or not, with
// one of the usual names created_at, created_on, created, inserted_at and registered_at, whatever its case and
// underscores are. The first of these names wins.
func (t Table) AddedAt() (Column, bool) {
	for _, name := range addedAt {
		for _, column := range t.Columns {
			called := strings.ToLower(strings.ReplaceAll(column.Name, "_", ""))
			if called == name && (column.Type == TypeTime || column.Type == "") {
				return column, true
			}
		}
	}
	return Column{}, false
}
