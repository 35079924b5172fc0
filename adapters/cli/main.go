package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs a command with the arguments of the process and returns the exit code. An interrupt ends the context of the
// verb, which rolls back what it has not committed; a second one ends the process. A reader that closes the pipe of the
// output does not end a verb.
func Main(root *cobra.Command) (code int) {
	signal.Ignore(syscall.SIGPIPE) // a write then fails in place of ending the process
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Execute(ctx, root)
}

// Execute runs a command, prints its error, and returns the exit code. Main is Execute with the signals of a process.
func Execute(ctx context.Context, root *cobra.Command) (code int) {
	root.SilenceErrors, root.SilenceUsage = true, true
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitFine
	}
	var failure *Error
	if !errors.As(err, &failure) {
		failure = &Error{Code: ExitFailed, Text: oneLine(err.Error())} // of the host's own tree
	}
	if failure.Text != "" {
		out := newPrinter(root.ErrOrStderr(), formats[0])
		out.line(out.paint("error", root.Name()+": ") + failure.Text)
		out.problems(failure.problems)
	}
	return failure.Code
}
