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

func replaying() verb {
	var yes bool
	var workers int
	return verb{
		use:   "replay FILE",
		short: "erase again whoever a restored backup brought back",
		long: `Erases again whoever was erased since the backup from which the database was
restored, by the lines of a journal (see journal). Subjects that the database
knows as erased since are passed over. A replay that was interrupted is called
again with the same lines, and goes on. It belongs before the application is
opened again.

External systems are told again only where the rows of a subject hold their
keys: they were not restored, and a journal has no refs. With - the lines come
by the standard input.

The verb asks for confirmation, or needs --yes.`,
		example: `habeas replay erased.jsonl --operator restore-2026-03 --yes
cat erased-*.jsonl | habeas replay - --operator restore-2026-03 --yes`,
		exits: exits{
			fine:   "every subject of the journal is erased",
			failed: "the replay ended early, a line is broken, or a subject failed; the\nothers are erased",
		},
		args: arguments{1, 1, "the file of a journal, or - for the standard input"}, acts: true,
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&yes, "yes", false, "replay without a confirmation")
			c.Flags().IntVar(&workers, "workers", 4, "`number` of subjects that are erased at once")
		},
		run: func(ctx context.Context, c *call) error {
			if workers < 1 {
				return usage(c.command, "--workers must be above 0")
			}
			lines := c.command.InOrStdin()
			total := 0
			if name := c.args[0]; name != fromStdin {
				file, err := os.Open(name) //nolint:gosec // the operator names it
				if err != nil {
					return failed("the file of the journal cannot be read; check its path and its rights")
				}
				defer func() { _ = file.Close() }()
				if total, err = countLines(file); err != nil {
					return failed("the file of the journal cannot be read; check its path and its rights")
				}
				lines = file
			} else if !yes {
				return failed("needs --yes where the lines come by the standard input; nothing was changed")
			}
			question := "Erase again those of " + counted(total, "line") + " who came back."
			if err := c.confirm(ctx, yes, question); err != nil {
				return err
			}
			return c.replay(ctx, lines, workers, total)
		},
	}
}

func (c *call) replay(ctx context.Context, lines io.Reader, workers, total int) error {
	progress := c.progress("lines replayed", total)
	report, err := c.Replay(ctx, lines, replay.Options{
		Workers: workers, Progress: func(r domain.ReplayReport) { progress.to(r.Lines, int64(total)) },
	})
	progress.end()
	shown := c.out.show(report, func() {
		c.out.line("Erased again " + counted(report.Erased, "subject") + "; " + counted(report.Current, "subject") +
			" erased since, of " + counted(report.Lines, "line") + ".")
	})
	if err != nil {
		return failed(explain(err).Error() + "; " + counted(report.Broken, "line") + " broken, " +
			counted(report.Failed, "subject") + " failed")
	}
	return shown
}

// countLines counts the lines of a file, and goes back to its beginning.
func countLines(file *os.File) (n int, err error) {
	lines := bufio.NewReaderSize(file, 1<<16)
	for err == nil {
		var text []byte
		text, err = lines.ReadSlice('\n')
		if len(text) > 0 && (err == nil || err == io.EOF) { //nolint:errorlint // as it is documented
			n++
		}
		if err == bufio.ErrBufferFull { //nolint:errorlint // as it is documented
			err = nil
		}
	}
	if err != io.EOF { //nolint:errorlint // as it is documented
		return 0, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return n, err
}
