package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
)

func journal() verb {
	var since, file string
	return verb{
		use:   "journal",
		short: "write the journal of erasures",
		long: `Writes a line for each subject that was erased since an instant, or ever: the
journal. It is kept outside of the database. A backup that is restored brings
back whoever was erased since it was made, and replay erases them again by the
journal. A line is a document in JSON with the id and the instant, whatever
--output says, and holds no other value.

With --file the journal is written to a new file that only its owner can read.
A worker can write a journal by itself.`,
		example: `habeas journal --file erased.jsonl
habeas journal --since 2026-03-01T00:00:00Z >> erased.jsonl`,
		exits: exits{fine: "the journal is complete", failed: "the journal breaks off, or there is none"},
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&since, "since", "", "erasures since this `instant`, like 2026-03-01T12:00:00Z")
			c.Flags().StringVarP(&file, "file", "f", "", "write the journal to this new `file`")
		},
		run: func(ctx context.Context, c *call) error {
			var from time.Time
			if since != "" {
				var err error
				if from, err = time.Parse(time.RFC3339, since); err != nil {
					return usage(c.command, "--since must be an instant, like 2026-03-01T12:00:00Z")
				}
			}
			return c.writeTo(file, func(to io.Writer) error {
				progress := c.progress("bytes written:", 0)
				defer progress.end()
				_, err := c.Journal(ctx, counting{to, progress}, from)
				if hasGone(err) {
					return &Error{Code: ExitFailed, Err: err}
				}
				return err
			})
		},
	}
}
