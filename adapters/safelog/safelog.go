// Package safelog says in a log what went wrong without saying about whom: no value, identifier, token, SQL or message
// of a driver or a vendor gets into the attributes it makes.
package safelog

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Error describes an error: its class, and the text of the *domain.Error in it, which is safe to log by contract. Of all
// other errors the class is all that is said.
func Error(err error) []slog.Attr {
	attributes := []slog.Attr{slog.String("class", domain.ErrorClass(err))}
	var coded *domain.Error
	if errors.As(err, &coded) {
		attributes = append(attributes, slog.String("error", coded.Error()))
	}
	return attributes
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
