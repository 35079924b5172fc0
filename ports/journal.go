package ports

import (
	"context"
	"io"
)

// Journal keeps the lines about erasures. The journal is outside of the database, so the lines survive a loss of the
// database. domain.JournalEntry describes a line. A Journal is safe for concurrent use.
type Journal interface {
	// Name returns the name of the journal, which has 1 to 200 characters. The name never changes, and is the same in all
	// processes that write to the journal. The reason is that the database stores, under this name, the last erasure that
	// was written to the journal. Under a new name, all erasures would be written to the journal again.
	Name() string

	// Append adds lines after the lines of all earlier calls. Each line ends with a line feed. Append returns nil only
	// after the lines are durable, so that they survive a crash of the machine. If Append fails, it may have written some
	// of the lines, and the last written line may be incomplete. The caller then appends all lines again.
	//
	// If the journal ends with an incomplete line, Append first ends this line with a line feed. It then writes the line
	// of domain.AppendTruncated, which marks the line before it as incomplete. Lines of concurrent calls do not mix.
	Append(ctx context.Context, lines []byte) error

	// Open returns a reader of all lines, in the order of the calls of Append. The caller closes the reader, and must not
	// cancel ctx before that. For a journal without lines, the reader returns no bytes and no error.
	Open(ctx context.Context) (io.ReadCloser, error)
}
