// Package safelog says in a log what went wrong without saying about whom: no value, identifier, token, SQL or message
// of a driver or a vendor gets into the attributes it makes.
package safelog

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain"
)

// Error describes an error: its class, and the texts of the errors of package domain that it wraps or joins, which are
// safe to log by contract. Of all other errors the class is all that is said. A text is one line of bounded length: a
// resolver or a hook may have made it.
func Error(err error) []slog.Attr {
	attributes := []slog.Attr{slog.String("class", domain.ErrorClass(err))}
	if texts := safeTexts(err); len(texts) > 0 {
		attributes = append(attributes, slog.String("error", strings.Join(texts, "; ")))
	}
	return attributes
}

// safeTexts finds the outermost error of package domain in each branch of an error.
func safeTexts(err error) []string {
	switch e := err.(type) { //nolint:errorlint // it takes the tree apart
	case *domain.Error:
		return []string{line(e.Error(), longest)}
	case *domain.ResolverError:
		if e != nil { // a resolver may return a nil pointer as its error
			return []string{line(e.Error(), longestOfResolver)}
		}
		return nil
	case *domain.RetryLater:
		if e != nil {
			return []string{line(e.Error(), longestOfResolver)}
		}
		return nil
	case interface{ Unwrap() []error }:
		var texts []string
		for _, branch := range e.Unwrap() {
			texts = append(texts, safeTexts(branch)...)
		}
		return texts
	case interface{ Unwrap() error }:
		return safeTexts(e.Unwrap())
	default:
		return nil
	}
}

// How many characters of a text are logged.
const (
	longest           = 4000 // it may list mistakes
	longestOfResolver = 300
)

// line is a text in one line: its first characters, with a space in place of each that cannot be printed.
func line(text string, longest int) string {
	printable := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if characters := []rune(printable); len(characters) > longest {
		return string(characters[:longest]) + "…"
	}
	return printable
}

// Panic describes a panic that was just recovered: the type of its value, which may itself hold anything, and where it
// came from. It is to be called by the deferred function.
func Panic(value any) []slog.Attr {
	return []slog.Attr{
		slog.String("class", "panic"), slog.String("panic", fmt.Sprintf("%T", value)), slog.String("stack", stack()),
	}
}

// stack lists the functions that are being called and where. Unlike debug.Stack it leaves out their arguments, among
// which may be the number of a subject.
func stack() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	var b strings.Builder
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		fmt.Fprintf(&b, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
	}
	return b.String()
}
