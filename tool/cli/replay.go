package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/internal/system"
)

func replaying() subcommand {
	var yes bool
	var restoredTo string
	options := replay.Options{}
	return subcommand{
		use:   "replay FILE",
		short: "repeat erasures after a restore from a backup",
		long: `Reads a journal of erasures (see journal) after the database was restored from a
backup, and erases its subjects again. Run the command before users can reach the
application again. If the command was interrupted, run it again with the same
journal.

A subject is erased if the database has not recorded the erasure of each line: it
compares the numbers of the erasures. If all erasures are recorded, but a row of the
subject is there, the command compares the creation time of the row with the one that
the erasure has found. It erases a deleted row that is back, leaves new people alone,
and counts the subjects about whom the evidence does not tell. These subjects are
findings, because their rows may be restored ones.

If only tables of the application were restored, give the begin of their backup with
--restored-to. All later erasures of the database are then repeated, also those
without a line, unless the creation time shows another person. Give the same time
again to repeat the command: people who were erased after the first run are left
alone. The command compares the time with the clock of the database. If the time is
too late, restored subjects are not erased and are counted as findings. If it is too
early, new people without a creation time can be erased.

The lines may have any order, and a line may occur twice. Lines of another
installation (of another database or data map) are refused before the first erasure,
because the same id is another person there.

The command prints the number and the time of the last line. Compare the number with
the number that you expect, or give it with --expect. The command names numbers of
erasures that have no line, and carries out the erasures that it knows. Find the
missing lines in another copy of the journal, and replay them, too. A line that was
cut off counts as not valid, unless the journal has it again. After the erasures, the
command names the sequences from which the application would give the id of an erased
subject to a new one. Set them to a higher number.

External objects whose keys are in the subject's rows, such as files, are erased
again. Other calls to external systems are not repeated, because the restore did not
change these systems. With the argument -, the lines come from the standard input.
The command reads all lines into memory first, which needs about 500 bytes for each
subject.

The command asks for confirmation unless --yes is given.`,
		example: `habeas replay erased.jsonl --operator restore-2026-03 --yes
cat erased-*.jsonl | habeas replay - --operator restore-2026-03 --yes`,
		exits: exits{
			fine: "every subject of the journal is erased, and the journal has no gap",
			findings: "all known erasures were repeated, but there are findings: lines that\n" +
				"are not valid or missing, ids that do not fit the key, rows that may be\nrestored ones, or low sequences",
			failed: "the lines were refused, a subject failed (all other subjects are erased),\nor the replay stopped early",
		},
		args: arguments{1, 1, "the file of a journal, or - for the standard input"}, needsOperator: true,
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&yes, "yes", false, "replay without confirmation")
			c.Flags().IntVar(&options.Workers, "workers", 4, "`number` of subjects to erase concurrently")
			c.Flags().Int64Var(&options.Expect, "expect", 0, "`number` that the last line must have at least")
			c.Flags().Var((*Text)(&restoredTo), "restored-to",
				"`time` at which the backup of restored tables began, such as\n2026-03-01T12:00:00Z")
		},
		run: func(ctx context.Context, c *call) error {
			if options.Workers < 1 {
				return usage(c.command, "--workers must be 1 or more")
			}
			if options.Expect < 0 {
				return usage(c.command, "--expect must be 0 or more")
			}
			if restoredTo != "" {
				var err error
				if options.RestoredTo, err = time.Parse(time.RFC3339, restoredTo); err != nil || options.RestoredTo.IsZero() {
					return usage(c.command, "--restored-to must be a time such as 2026-03-01T12:00:00Z")
				}
			}
			lines := c.command.InOrStdin()
			total := 0
			if name := c.args[0]; name != fromStdin {
				file, err := system.OpenPrivate(name, os.O_RDONLY, 0o077)
				if errors.Is(err, system.ErrNotPrivate) {
					return failed("the file of the journal is a link, or others have access to it: its lines decide who is erased, " +
						"so use a regular file with the mode 0600")
				}
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
			if restoredTo != "" {
				prompt += " Also erase the subjects who were erased after " + restoredTo + " and have a row."
			}
			if err := c.confirm(ctx, yes, prompt); err != nil {
				return err
			}
			return c.replay(ctx, lines, options)
		},
	}
}

// replay replays the lines and prints the report, even if the replay has failed.
func (c *call) replay(ctx context.Context, lines io.Reader, options replay.Options) error {
	progress := c.progress("subjects replayed", 0)
	options.Progress = func(r domain.ReplayReport) {
		progress.set(r.Current+r.Erased+r.New+r.OtherRow+r.Unclear+r.Skipped+r.Failed, r.Subjects)
	}
	report, err := c.Replay(ctx, lines, options)
	progress.end()
	shown := c.out.show(report, func() { c.out.replayed(report) })
	switch {
	case err == nil:
		return shown
	case errors.Is(err, replay.ErrIncomplete) && report.Failed == 0:
		return &Error{Code: ExitFindings, Text: explain(err).Text}
	}
	if report.Broken+report.Failed == 0 {
		return err
	}
	return failed(explain(err).Error() + "; " + counted(report.Broken, "line") + " not valid, " +
		counted(report.Failed, "subject") + " failed")
}

func (p *printer) replayed(report domain.ReplayReport) {
	p.line("Erased " + counted(report.Erased, "subject") + " again, skipped " + counted(report.Current, "subject") +
		", read " + counted(report.Lines, "line") + ".")
	if report.New+report.OtherRow+report.Unclear > 0 {
		p.line("Not erased: " + counted(report.New, "subject") + " registered after the erasure, " +
			counted(report.OtherRow, "subject") + " with another creation time, " +
			counted(report.Unclear, "subject") + " with unclear evidence.")
	}
	if report.LastErasedAt.IsZero() {
		return
	}
	p.line("Last line: number " + strconv.FormatInt(report.LastNumber, 10) + ", erased at " +
		report.LastErasedAt.Format(time.RFC3339Nano) + ".")
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
