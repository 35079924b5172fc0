package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/habeas-data/habeas/adapters/hooks"
)

// The hook fails, because a cache cannot be reached. Call logs the failure and returns.
func ExampleCall() {
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	hooks.Call(context.Background(), logger, "forget_sessions", func(context.Context) error {
		fmt.Println("called")
		return errors.New("the cache cannot be reached")
	})
	fmt.Println("returned")
	// Output:
	// called
	// returned
}
