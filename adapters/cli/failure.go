package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

// The exit codes.
const (
	ExitFine     = 0 // all is well
	ExitFindings = 1 // the verb did its work, and a person has to look into something
	ExitFailed   = 2 // the verb could not do its work, or was not called as it must be
)

// Error is the error of a command. Its text is one line that is safe to print.
type Error struct {
	Code int    // ExitFindings or ExitFailed
	Text string // empty if the command has said everything already
	Err  error  // the cause, not part of the text

	problems []domain.Problem // of a data map, to be printed below the text
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode returns the exit code of a program for the error that a command returned.
func ExitCode(err error) int {
	var failure *Error
	switch {
	case err == nil:
		return ExitFine
	case errors.As(err, &failure):
		return failure.Code
	default:
		return ExitFailed
	}
}

// findings is the error of a verb that has found something, and has printed it.
func findings(n int) error {
	if n == 0 {
		return nil
	}
	return &Error{Code: ExitFindings}
}

// failed is the error of a verb that could not do its work.
func failed(text string) error { return &Error{Code: ExitFailed, Text: text} }

// usage is the error of a call that is not as it must be.
func usage(command *cobra.Command, message string) error {
	text := message + "; see " + command.CommandPath() + " --help"
	if parents := strings.Fields(command.CommandPath()); len(parents) > 1 {
		text = strings.Join(parents[1:], " ") + ": " + text
	}
	return failed(text)
}

// explain returns the *Error of a verb. Errors of package domain have texts that are safe; of any other error only the
// class is told, as its text could be anything.
func explain(err error) error {
	var failure *Error
	if errors.As(err, &failure) {
		return failure
	}
	failure = &Error{Code: ExitFailed, Err: err, problems: domain.Problems(err)}
	var coded *domain.Error
	switch {
	case errors.Is(err, context.Canceled):
		failure.Text = "interrupted: what was not committed is rolled back"
	case errors.Is(err, context.DeadlineExceeded):
		failure.Text = "it took too long: what was not committed is rolled back"
	case len(failure.problems) > 0:
		failure.Text = "the data map does not fit: " + counted(len(failure.problems), "mistake")
	case errors.As(err, &coded):
		failure.Text = strings.TrimPrefix(coded.Error(), "habeas: ")
		if remedy := remedies[coded.Code]; remedy != "" {
			failure.Text += "; " + remedy
		}
	default:
		failure.Text = "the application failed, and its error may hold personal data: its class is " + domain.ErrorClass(err)
	}
	if evidenceLost(err) {
		failure.Text += "; the attempt could not be recorded on the audit trail"
	}
	failure.Text = oneLine(failure.Text)
	return failure
}

// remedies say what to do about an error of a code.
var remedies = map[domain.Code]string{
	domain.ErrUnavailable:   "check the address and the network of the database, then try again",
	domain.ErrSubject:       "check the id and the refs: see the topic subjects",
	domain.ErrConfiguration: "change the configuration of the application, or the rights of its role",
	domain.ErrManifest:      "correct the data map",
	domain.ErrRetention:     "correct the data map",
	domain.ErrConflict:      "change the data map or the constraint, nothing was changed in the database",
	domain.ErrLeftOver:      "look at triggers, rules and views of the table, nothing was changed in the database",
}

// evidenceLost reports whether an error says that the evidence of the attempt could not be written.
func evidenceLost(err error) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // of errors.Join itself
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

// flagError replaces an error of the parser, which repeats what was typed: an id, perhaps.
func flagError(command *cobra.Command, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" || len(name) > 32 {
			return usage(command, "unknown flag")
		}
		return usage(command, "unknown flag --"+name)
	}
	if _, ok := strings.CutPrefix(text, "unknown shorthand flag"); ok {
		return usage(command, "unknown flag; an id that begins with a hyphen is given after -- or by the standard input")
	}
	if rest, ok := strings.CutPrefix(text, "flag needs an argument: --"); ok {
		return usage(command, "--"+rest+" needs a value")
	}
	rest, ok := strings.CutPrefix(text, "invalid argument ")
	quoted, err := strconv.QuotedPrefix(rest)
	if !ok || err != nil {
		return usage(command, "the flags cannot be read")
	}
	rest = strings.TrimPrefix(rest[len(quoted):], " for ")
	if quoted, err = strconv.QuotedPrefix(rest); err != nil {
		return usage(command, "the flags cannot be read")
	}
	_, name, _ := strings.Cut(strings.Trim(quoted, `"`), "--")
	message := "--" + name + " has a wrong value"
	if flag := command.Flag(name); flag != nil {
		message += ", it must be " + flag.Value.Type()
	}
	return usage(command, message)
}

// oneLine joins lines.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// counted is a number of things.
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
