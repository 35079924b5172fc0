package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs a command with the arguments of the process, and returns the exit code. The first interrupt signal cancels
// the context of the command, so that an open transaction is rolled back. The second interrupt signal ends the process.
// If the reader of the output closes its pipe, the command continues without output.
func Main(root *cobra.Command) (code int) {
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe then returns EPIPE instead of ending the process
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Execute(ctx, root)
}

// Execute runs a command, prints its error and returns the exit code. Main calls Execute with a context that an
// interrupt signal cancels.
func Execute(ctx context.Context, root *cobra.Command) (code int) {
	root.SilenceErrors, root.SilenceUsage = true, true
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	var failure *Error
	if !errors.As(err, &failure) {
		failure = &Error{Code: ExitFailed, Text: oneLine(err.Error())} // err is from a command that the application has added
	}
	if failure.Text != "" {
		out := newPrinter(root.ErrOrStderr(), formats[0])
		text := root.Name() + ": " + failure.Text
		if isTerminal(root.ErrOrStderr()) { // elsewhere, an error is one line for other programs
			text = strings.Join(wrap(text, out.width), "\n")
		}
		out.line(strings.Replace(text, root.Name()+":", out.paint("error", root.Name()+":"), 1))
		out.problems(failure.problems)
	}
	return failure.Code
}
