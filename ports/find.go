package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Finder looks for values, such as an email address or a phone number, in the whole database: for the copies that no
// data map names. The stores of this module implement it. It is safe for concurrent use.
type Finder interface {
	// Find counts, for each value, the rows of each table that hold it in a column. It looks at every column that can hold
	// text: of text types, JSON, arrays of texts, and all other types but numbers, truth values, times, UUIDs, binary data
	// and enumerations. It looks at tables and materialized views, whether or not a data map has them. It leaves out
	// views, temporary tables, and the tables of habeas but for the reasons of restrictions and the refs and corrections
	// of the outbox.
	//
	// A column holds a value if its text contains the value, whatever the case of letters is (domain.Foldings). No
	// character of a value has a special meaning. A value is also found as JSON may write it: é as \u00e9, / as \/. It is
	// not found in another encoding, such as that of a URL, nor in another form: a phone number with other spaces, a
	// letter that is composed of two characters.
	//
	// The result names a value by its index. What cannot be read is among the gaps; the other tables are searched all the
	// same. The database counts, one table after the other, so that the memory needed does not depend on the number of
	// rows. Tables are not read at one instant.
	//
	// progress, which may be nil, is called before each table and once at the end, by the goroutine of the call. Find
	// ends with ctx, and needs a connection of its own. Returns domain.ErrInvalid as domain.CheckSought does, and
	// domain.ErrUnavailable if the database cannot be reached. No value is in an error, in a log, or in the text of a
	// statement.
	Find(ctx context.Context, values []string, progress func(domain.FindProgress)) (domain.Found, error)
}
