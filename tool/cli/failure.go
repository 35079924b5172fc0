package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/habeas-data/habeas/domain"
)

// The exit codes.
const (
	ExitOK       = 0 // success
	ExitFindings = 1 // the command succeeded, and has findings that a person must examine
	ExitFailed   = 2 // the command failed, or was called incorrectly
)

// Error is the error of a command. Its text is one line without personal data.
type Error struct {
	Code int    // ExitFindings or ExitFailed
	Text string // empty if the command has printed its findings
	Err  error  // the cause; not part of the text

	problems []domain.Problem // the mistakes of a data map, printed below the text
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode returns the exit code for an error that a command has returned.
func ExitCode(err error) int {
	var failure *Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &failure):
		return failure.Code
	default:
		return ExitFailed
	}
}

// findings returns nil if n is 0, and otherwise the error of a command that has printed n findings.
func findings(n int) error {
	if n == 0 {
		return nil
	}
	return &Error{Code: ExitFindings}
}

// failed returns the error of a command that failed, with the given text.
func failed(text string) error { return &Error{Code: ExitFailed, Text: text} }

// usage returns an error for a command that was called incorrectly. Its text refers to the help page of the command.
func usage(command *cobra.Command, message string) error {
	text := message + "; see " + command.CommandPath() + " --help"
	if parents := strings.Fields(command.CommandPath()); len(parents) > 1 {
		text = strings.Join(parents[1:], " ") + ": " + text
	}
	return failed(text)
}

// explain returns err as an *Error with a text that is safe to print. For an error of package domain, this text
// includes the message of err. For a refusal of the application, it includes the words of the application. For any
// other error, it includes only the class of err, because the message could contain personal data.
func explain(err error) *Error {
	var failure *Error
	if errors.As(err, &failure) {
		return failure
	}
	failure = &Error{Code: ExitFailed, Err: err, problems: domain.Problems(err)}
	var coded *domain.Error
	var refusal *domain.RefusalError
	switch {
	case errors.Is(err, context.Canceled):
		failure.Text = "interrupted: the open transaction was rolled back"
	case errors.Is(err, context.DeadlineExceeded):
		failure.Text = "timed out: the open transaction was rolled back; try again"
	case errors.As(err, &refusal):
		failure.Text = refusalText(refusal.Bounded())
	case len(failure.problems) > 0:
		failure.Text = "the data map is not valid: " + counted(len(failure.problems), "mistake")
	case errors.As(err, &coded):
		failure.Text = strings.TrimPrefix(coded.Error(), "habeas: ")
		if remedy := remedies[coded.Code]; remedy != "" {
			failure.Text += "; " + remedy
		}
	default:
		failure.Text = "the application failed with an error of class " + domain.ErrorClass(err) +
			"; its text is hidden because it may hold personal data"
	}
	if evidenceLost(err) {
		failure.Text += "; the audit trail has no event of the attempt"
	}
	failure.Text = oneLine(failure.Text)
	return failure
}

// refusalText returns the refusal of a hook in the words of the application.
func refusalText(refusal domain.RefusalError) string {
	text := "the application refused the operation"
	for _, words := range []string{refusal.Title, refusal.Detail} {
		if words != "" {
			text += ": " + words
		}
	}
	return text
}

// remedies has the remedy for an error code, which explain adds to the text of the error.
var remedies = map[domain.Code]string{
	domain.ErrUnavailable:   "check the address and the network of the database, then try again",
	domain.ErrSubject:       `check the id and the refs; see the help topic "subjects"`,
	domain.ErrConfiguration: "change the configuration of the application, or the privileges of its database role",
	domain.ErrManifest:      "correct the data map",
	domain.ErrRetention:     "correct the data map",
	domain.ErrConflict:      "nothing was changed in the database",
	domain.ErrLeftOver:      "check triggers, rules and views of the table; nothing was changed in the database",
}

// isMisconfigured reports whether a command failed because the application lacks a feature that the command needs.
func isMisconfigured(err error) bool { return errors.Is(err, domain.ErrConfiguration) }

// evidenceLost reports whether the audit event about a failed attempt could not be written.
func evidenceLost(err error) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, each := range several.Unwrap() {
			if evidenceLost(each) {
				return true
			}
		}
		return false
	}
	var coded *domain.Error
	return errors.As(err, &coded) && coded.Op == "evidence"
}

// flagError returns the error of a command for an error of the flag parser. It writes a text of its own, because the
// text of the parser repeats the argument, which may be an id.
func flagError(command *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usage(command, "unknown flag; put -- before an id that begins with a hyphen, or use the standard input")
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" || len(name) > 32 {
			return usage(command, "unknown flag")
		}
		return usage(command, "unknown flag --"+name)
	case errors.As(err, &missing) && missing.GetSpecifiedShortnames() != "":
		return usage(command, "-"+missing.GetSpecifiedName()+" needs a value")
	case errors.As(err, &missing):
		return usage(command, "--"+missing.GetSpecifiedName()+" needs a value")
	case errors.As(err, &invalid):
		return usage(command, "--"+invalid.GetFlag().Name+" is not valid, it must be "+invalid.GetFlag().Value.Type())
	default:
		return usage(command, "the flags are not valid")
	}
}

// oneLine returns the text in one line: it replaces each line break, and each sequence of spaces, by one space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// counted returns a number and a noun, in the singular or plural.
func counted[N int | int64](n N, thing string) string {
	text := strconv.FormatInt(int64(n), 10) + " " + thing
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "y"):
		text = strings.TrimSuffix(text, "y") + "ies"
	default:
		text += "s"
	}
	return text
}
