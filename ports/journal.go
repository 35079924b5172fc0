package ports

import (
	"context"
	"io"
)

// Journal keeps lines outside of the database, so that the lines survive a loss of the database. See
// domain.JournalEntry for the lines. A Journal is safe for concurrent use.
type Journal interface {
	// Name identifies the journal to the database, which stores the position of the journal under this name. The name
	// never changes, and is the same in all processes that write to one journal. It has 1 to 200 characters. Under a new
	// name, the journal starts again at the first erasure, so every erasure is written again.
	Name() string

	// Append adds lines after all lines of earlier calls. Each line ends with a line feed. Append returns nil only after
	// the lines are durable, so that they survive a crash of the machine. After an error, any of the lines may exist, and
	// the last of these may be incomplete. The caller then appends all lines again. If the journal ends with an incomplete
	// line, Append marks it: it ends the line, and writes the line of domain.AppendTruncated before the next lines. Lines
	// of concurrent calls do not mix.
	Append(ctx context.Context, lines []byte) error

	// Open returns all lines, in the order of the calls of Append. The caller closes the reader, and keeps ctx alive until
	// then. A journal to which nothing was appended returns no lines and no error.
	Open(ctx context.Context) (io.ReadCloser, error)
}
