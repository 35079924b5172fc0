package safelog_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/habeas-data/habeas/adapters/safelog"
	"github.com/habeas-data/habeas/domain"
)

// What a driver says quotes the row. The log gets the class, and what a domain.Error says, which is safe by contract.
func ExampleError() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))

	driver := errors.New("duplicate key value (email)=(zoe@example.org)")
	conflict := &domain.Error{Code: domain.ErrConflict, Op: "sign up", Message: "the account exists", Err: driver}
	for _, err := range []error{fmt.Errorf("for zoe@example.org: %w", conflict), driver} {
		logger.LogAttrs(context.Background(), slog.LevelError, "sign-up failed", safelog.Error(err)...)
	}
	// Output:
	// level=ERROR msg="sign-up failed" class=conflict error="habeas: sign up: the account exists"
	// level=ERROR msg="sign-up failed" class=internal
}

// A panic may hold anything. The log gets its type, and the functions that it came through without their arguments.
func ExamplePanic() {
	defer func() {
		for _, attribute := range safelog.Panic(recover()) {
			if attribute.Key != "stack" {
				fmt.Println(attribute)
			}
		}
	}()
	panic(errors.New("no such user: zoe@example.org"))
	// Output:
	// class=panic
	// panic=*errors.errorString
}

func withoutTime(_ []string, attribute slog.Attr) slog.Attr {
	if attribute.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return attribute
}
