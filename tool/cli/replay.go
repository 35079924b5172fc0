package cli

import (
	"bytes"
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
		use:  "replay FILE",
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
	buffer, last := make([]byte, 1<<16), byte('\n')
	for err == nil {
		var size int
		if size, err = file.Read(buffer); size > 0 {
			n, last = n+bytes.Count(buffer[:size], []byte("\n")), buffer[size-1] //nolint:gosec // size is above 0
		}
	}
	if last != '\n' {
		n++
	}
	if !errors.Is(err, io.EOF) {
		return 0, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return n, err
}
