// Package safelog returns log attributes that describe an error or a panic without personal data. The attributes
// contain no value, identifier, token or SQL, and no message of a driver or an external system.
package safelog

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain"
)

// Error returns attributes that describe err: its class, and the texts of the errors of package domain that err wraps
// or joins. By their contract, these texts contain no personal data. For all other errors, Error returns only the
// class. Each text has one line of limited length, because a resolver or a hook may have written it.
func Error(err error) []slog.Attr {
	attributes := []slog.Attr{slog.String("class", domain.ErrorClass(err))}
	if texts := safeTexts(err); len(texts) > 0 {
		attributes = append(attributes, slog.String("error", strings.Join(texts, "; ")))
	}
	return attributes
}

// safeTexts returns texts of the errors of package domain that err wraps or joins. If one of these errors wraps
// another, only the text of the outer error is returned.
func safeTexts(err error) []string {
	switch e := err.(type) { //nolint:errorlint // it takes the tree apart
	case *domain.Error:
		return []string{line(e.Error(), longest)}
	case *domain.ResolverError:
		if e != nil { // a resolver may return a nil pointer as its error
			return []string{line(e.Error(), longestOfResolver)}
		}
		return nil
	case *domain.RetryLaterError:
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

// These are the maximum lengths of logged texts, in characters.
const (
	longest           = 4000 // the text may list many mistakes of a data map
	longestOfResolver = 300
)

// line returns the first characters of a text as one line. Each character that is not printable becomes a space.
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

// Panic returns attributes that describe a recovered panic: the type of its value, and the stack. It does not return
// the value itself, which may contain any data. Call Panic in the deferred function that recovers the panic, because
// the stack is lost when the deferred function returns.
func Panic(value any) []slog.Attr {
	return []slog.Attr{
		slog.String("class", "panic"), slog.String("panic", fmt.Sprintf("%T", value)), slog.String("stack", stack()),
	}
}

// stack returns the functions on the call stack with their positions in the source. Unlike debug.Stack, it does not
// return the arguments of the functions, because an argument may be the id of a subject.
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
