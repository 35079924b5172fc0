package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/habeas-data/habeas/adapters/hooks"
)

// The first call of the hook fails, because a cache cannot be reached. Caller then calls the hook again in the
// background.
func ExampleCaller() {
	caller := hooks.Caller{Attempts: 3, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	done, calls := make(chan struct{}), 0
	caller.Call(context.Background(), "forget_sessions", func(context.Context) error {
		if calls++; calls < 2 {
			return errors.New("the cache cannot be reached")
		}
		close(done)
		return nil
	})
	<-done
	fmt.Println("calls:", calls)
	// Output: calls: 2
}
