package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain/search"
)

// Finder searches a database for values, such as an email address or a phone number. It also finds copies in columns
// that the data map does not contain. The stores of this module implement Finder, and the tools for operators receive
// it beside the SessionFactory. A Finder is safe for concurrent use.
type Finder interface {
	// Find counts the rows that hold a value, separately for each value and each column.
	//
	// Find searches every column with texts, numbers or UUIDs, including JSON, arrays of these and binary data. It skips
	// columns of truth values, times and enumerations, unless the database accepts a text in them, as SQLite does. Find
	// searches tables and materialized views, including those that the data map does not contain. It skips views and
	// temporary tables. In the tables of habeas, it searches these columns: the ids of subjects, the purposes
	// and policy versions, the reasons of restrictions, the payloads of events, the refs and corrections of outbox
	// entries, and the references of requests and holds.
	//
	// A column holds a value if the text of the column contains the value. Find ignores the case of letters (see
	// search.Foldings). No character of a value has a special meaning, as % has in LIKE. In JSON, Find also finds the
	// escaped forms of a value: é as \u00e9, and / as \/. It finds values with quotes and backslashes in arrays and in
	// composite values, where they are doubled or escaped. A value of at least search.MinEncodedLength bytes is also found
	// in hexadecimal digits and in base64.
	//
	// Find does not find these forms of a value:
	//
	//   - a value in another encoding, such as the encoding of a URL, or base64 that a line break divides (a database
	//     may find it nevertheless)
	//   - another notation of a value, such as a phone number with other spaces
	//   - a letter that is stored as two characters, such as e and a combining accent
	//
	// Find runs no code of a database role that the connection does not trust: it does not search the tables of such a
	// role, unless search.OfAllOwners made ctx. Trusted are the role of the connection, the roles that an administrator
	// has granted to it, and superusers.
	//
	// The result refers to a value by its index in the parameter values, and also lists the values that were not found. If
	// a table or a column cannot be searched completely, the result lists it in Gaps, and Find continues with the other
	// tables. Find searches one table after the other and does not read them from one snapshot. The memory that Find needs
	// does not depend on the number of rows.
	//
	// Find calls the function progress before each table and once at the end, in the goroutine of the caller. progress may
	// be nil.
	//
	// Find uses a separate connection, and returns when ctx ends. Find returns domain.ErrInvalid for values that
	// search.CheckSearchValues refuses. Find returns domain.ErrUnavailable if the database cannot be reached. No error, no
	// log and no text of a statement contains a value.
	Find(ctx context.Context, values []string, progress func(search.Progress)) (search.Result, error)
}
