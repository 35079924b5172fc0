package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain/journal"
)

func journaling() subcommand {
	var since, file string
	var after int64
	return subcommand{
		use:   "journal",
		short: "write the journal of erasures",
		long: `Writes the journal of erasures: one line for each erased subject. Keep the journal
outside of the database. If you restore the database from a backup, it again contains
the data of subjects that were erased after the backup. The command replay reads the
journal and erases these subjects again.

Each line is a JSON document with the installation (the id of the database and its
data map), the number of the erasure, the number of the erasure before it (after), the
subject's id, the time of the erasure, and the creation time of the subject's row, if
it is known. The flag --output does not change the lines.

To continue a journal, use --after with the number of its last line. This bound is
exact. With --since, the journal has the erasures since one day before that time,
because the clocks of servers differ. Some lines may then be in two journals. The
command replay accepts a line twice, and lines in any order.

With --file, the journal is written to a new file that only its owner can read.
If an application sets Journal in its configuration, its worker writes a
journal continuously.`,
		example: `habeas journal --file erased.jsonl
habeas journal --after 1742 >> erased.jsonl
habeas journal --since 2026-03-01T00:00:00Z --file march.jsonl`,
		exits: exits{fine: "the journal is complete", failed: "no journal was written, or it is incomplete"},
		flags: func(c *cobra.Command) {
			c.Flags().Int64Var(&after, "after", 0, "erasures after this `number` of a line, to continue a journal")
			c.Flags().Var((*Text)(&since), "since",
				"erasures since one day before this `time`, such as\n2026-03-01T12:00:00Z")
			c.Flags().VarP((*Text)(&file), "file", "f", "write the journal to this new `file`")
		},
		run: func(ctx context.Context, c *call) error {
			from := journal.From{After: after}
			if after < 0 {
				return usage(c.command, "--after must be 0 or more")
			}
			if since != "" {
				var err error
				if from.Since, err = time.Parse(time.RFC3339, since); err != nil {
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
