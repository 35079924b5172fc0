package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
)

func journal() subcommand {
	var since, file string
	return subcommand{
		use:   "journal",
		short: "write the journal of erasures",
		long: `Writes the journal of erasures: one line for each erased subject. With --since,
it has only erasures since that time. Keep the journal outside of the database.
If you restore the database from a backup, it again contains the data of
subjects that were erased after the backup. The command replay reads the journal and
erases these subjects again.

Each line is a JSON document with the version of the format, the subject's id, and the
time of the erasure. The flag --output does not change the lines.

With --file, the journal is written to a new file that only its owner can read.
If an application sets Journal in its configuration, its worker writes a
journal continuously.`,
		example: `habeas journal --file erased.jsonl
habeas journal --since 2026-03-01T00:00:00Z >> erased.jsonl`,
		exits: exits{fine: "the journal is complete", failed: "no journal was written, or it is incomplete"},
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&since, "since", "", "erasures since this `time`, such as 2026-03-01T12:00:00Z")
			c.Flags().StringVarP(&file, "file", "f", "", "write the journal to this new `file`")
		},
		run: func(ctx context.Context, c *call) error {
			var from time.Time
			if since != "" {
				var err error
				if from, err = time.Parse(time.RFC3339, since); err != nil {
					return usage(c.command, "--since must be a time such as 2026-03-01T12:00:00Z")
				}
			}
			return c.writeTo(file, func(to io.Writer) error {
				progress := c.progress("bytes written:", 0)
				defer progress.end()
				_, err := c.Journal(ctx, counting{to, progress}, from)
				if readerClosed(err) {
					return &Error{Code: ExitFailed, Err: err}
				}
				return err
			})
		},
	}
}
