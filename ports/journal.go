package ports

import (
	"context"
	"io"
)

// Journal keeps lines outside of the database, so that they survive its loss. See domain.JournalEntry for the lines. It
// is safe for concurrent use.
type Journal interface {
	// Name identifies the journal to the database, which keeps how far the journal has come under this name. It never
	// changes, is the same for all processes that write to one journal, and has 1 to 200 characters. Under a new name,
	// each erasure is written again.
	Name() string

	// Append adds lines, each of which ends with a line feed, behind all lines of earlier calls. It returns nil only once
	// they survive a crash of the machine. After an error, any of the lines may be there, the last one in part; the caller
	// appends all of them again. A line that was cut off is told from others by domain.AppendCut, before the next lines.
	// Lines of calls at the same time do not mix.
	Append(ctx context.Context, lines []byte) error

	// Open returns all lines, in the order of the calls of Append. The caller closes it. ctx must not end before that. A
	// journal to which nothing was ever appended has no lines, which is no error.
	Open(ctx context.Context) (io.ReadCloser, error)
}
