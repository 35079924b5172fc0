package cli

import (
	"bufio"
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/replay"
)

func replaying() subcommand {
	var yes bool
	var workers int
	return subcommand{
		use:   "replay FILE",
		short: "repeat erasures after a restore from a backup",
		long: `Reads a journal of erasures (see journal) after the database was restored from a
backup, and erases its subjects again. A subject is skipped if the database has
recorded an erasure at or after the time in the journal. Run the command before
users can reach the application again. If the command was interrupted, run it again
with the same journal.

External objects whose keys are in the subject's rows, such as files, are erased
again. Other calls to external systems are not repeated, because the restore did not
change these systems. With the argument -, the lines come from the standard input.

The command asks for confirmation unless --yes is given.`,
		example: `habeas replay erased.jsonl --operator restore-2026-03 --yes
cat erased-*.jsonl | habeas replay - --operator restore-2026-03 --yes`,
		exits: exits{
			fine:   "every subject of the journal is erased",
			failed: "a line is not valid or a subject failed (all other subjects are erased),\nor the replay stopped early",
		},
		args: arguments{1, 1, "the file of a journal, or - for the standard input"}, needsOperator: true,
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&yes, "yes", false, "replay without confirmation")
			c.Flags().IntVar(&workers, "workers", 4, "`number` of subjects to erase concurrently")
		},
		run: func(ctx context.Context, c *call) error {
			if workers < 1 {
				return usage(c.command, "--workers must be 1 or more")
			}
			lines := c.command.InOrStdin()
			total := 0
			if name := c.args[0]; name != fromStdin {
				file, err := os.Open(name) //nolint:gosec // the operator chooses the file
				if err != nil {
					return failed("the file of the journal cannot be read: check its path and permissions")
				}
				defer func() { _ = file.Close() }()
				if total, err = countLines(file); err != nil {
					return failed("the file of the journal cannot be read: check its path and permissions")
				}
				lines = file
			} else if !yes {
				return failed("nothing was changed: lines from the standard input need --yes")
			}
			prompt := "Erase the restored subjects of " + counted(total, "line") + " again."
			if err := c.confirm(ctx, yes, prompt); err != nil {
				return err
			}
			return c.replay(ctx, lines, workers, total)
		},
	}
}

func (c *call) replay(ctx context.Context, lines io.Reader, workers, total int) error {
	progress := c.progress("lines replayed", total)
	report, err := c.Replay(ctx, lines, replay.Options{
		Workers: workers, Progress: func(r domain.ReplayReport) { progress.set(r.Lines, int64(total)) },
	})
	progress.end()
	shown := c.out.show(report, func() {
		c.out.line("Erased " + counted(report.Erased, "subject") + " again, skipped " + counted(report.Current, "subject") +
			", read " + counted(report.Lines, "line") + ".")
	})
	if err != nil {
		return failed(explain(err).Error() + "; " + counted(report.Broken, "line") + " not valid, " +
			counted(report.Failed, "subject") + " failed")
	}
	return shown
}

// countLines returns the number of lines in a file. Afterwards, the file is positioned at its beginning again.
func countLines(file *os.File) (n int, err error) {
	lines := bufio.NewReaderSize(file, 1<<16)
	for err == nil {
		var text []byte
		text, err = lines.ReadSlice('\n')
		if len(text) > 0 && (err == nil || err == io.EOF) { //nolint:errorlint // bufio returns this value unwrapped
			n++
		}
		if err == bufio.ErrBufferFull { //nolint:errorlint // bufio returns this value unwrapped
			err = nil
		}
	}
	if err != io.EOF { //nolint:errorlint // bufio returns this value unwrapped
		return 0, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return n, err
}
