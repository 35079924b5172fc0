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
		use: "journal",
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
