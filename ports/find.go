package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Finder searches the whole database for values, such as an email address or a phone number. It finds copies that the
// data map does not name. The stores of this module implement it. It is safe for concurrent use.
type Finder interface {
	// Find counts, for each value, the rows of each table that hold the value in a column.
	//
	// Find searches every column that can hold text: text types, JSON, arrays of texts, and all other types except
	// numbers, truth values, times, UUIDs, binary data and enumerations. It searches tables and materialized views,
	// including those that the data map lacks. It skips views and temporary tables. It skips the tables of habeas except
	// the reasons of restrictions, and the refs and corrections of the outbox.
	//
	// A column holds a value if its text contains the value. Find ignores the case of letters (see domain.Foldings). No
	// character of a value has a special meaning. Find also finds a value in the escaped forms of JSON: é as \u00e9, / as
	// \/. It does not find a value in another encoding, such as the encoding of a URL. It does not find a value in another
	// form, such as a phone number with other spaces or a letter that is composed of two characters.
	//
	// The result identifies a value by its index. It lists tables and columns that cannot be read as gaps, and Find still
	// searches the other tables. The database counts the rows, one table after the other. The memory that Find needs does
	// not depend on the number of rows. The tables are not read from one snapshot.
	//
	// Find calls progress before each table and once at the end, in the goroutine of the caller. progress may be nil. Find
	// returns when ctx ends, and needs a separate connection. It returns domain.ErrInvalid as domain.CheckSearchValues
	// does. Returns domain.ErrUnavailable if the database cannot be reached. No error, log or statement text contains a
	// value.
	Find(ctx context.Context, values []string, progress func(domain.FindProgress)) (domain.Found, error)
}
