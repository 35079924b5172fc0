package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain/journal"
)

func export() subcommand {
	var file string
	return subcommand{
		use:  "export SUBJECT",
		args: oneSubject, needsOperator: true,
		flags: func(c *cobra.Command) {
			c.Flags().VarP((*Text)(&file), "file", "f", "write the copy to this new `file`")
		},
		run: func(ctx context.Context, c *call) error {
			people, err := c.subjects()
			if err != nil {
				return err
			}
			for _, p := range people {
				if err := c.mustKnow(ctx, p); err != nil {
					return err
				}
			}
			return c.writeTo(file, func(to io.Writer) error { return c.exportAll(ctx, people, to) })
		},
	}
}

// writeTo creates a file with the given name and calls write with it. If write fails, writeTo removes the file. If the
// name is empty, writeTo creates no file and calls write with the standard output instead.
func (c *call) writeTo(name string, write func(io.Writer) error) error {
	if name == "" {
		return write(c.out)
	}
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator chooses the file
	switch {
	case errors.Is(err, os.ErrExist):
		return failed("the file exists and was not overwritten: choose another file")
	case err != nil:
		return failed("the file cannot be created: check the directory and its permissions")
	}
	err = write(to)
	if ExitCode(err) != ExitFailed {
		if closed := errors.Join(to.Sync(), to.Close()); closed != nil {
			err = failed("the file cannot be written: check the free space of the disk")
		}
	}
	if ExitCode(err) == ExitFailed {
		_ = to.Close()      // may be closed already
		_ = os.Remove(name) // if this fails, an incomplete file remains
	}
	return err
}

func (c *call) exportAll(ctx context.Context, people []person, to io.Writer) error {
	progress := c.progress("bytes copied:", 0)
	defer progress.end()
	var silent []string
	for i, p := range people {
		bundle, err := c.Export(ctx, p.Subject, counting{to, progress})
		if readerClosed(err) {
			return &Error{Code: ExitFailed, Err: err}
		}
		if err != nil {
			return afterSome(i, len(people), p, err)
		}
		silent = append(silent, bundle.IncompleteSources...)
	}
	if len(silent) > 0 {
		progress.end()
		return &Error{Code: ExitFindings, Text: "no response from: " + strings.Join(silent, ", ")}
	}
	return nil
}

// counting is a writer that shows the number of written bytes in a progress bar.
type counting struct {
	io.Writer
	progress *progress
}

func (c counting) Write(text []byte) (n int, err error) {
	n, err = c.Writer.Write(text)
	c.progress.add(int64(n))
	return n, err
}

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
