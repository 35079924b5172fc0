package bunstore_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"
)

// statements is a query hook that records all statements except notifications. A test cannot predict when the store
// sends a notification.
type statements struct {
	mu    sync.Mutex
	texts []string
}

func (h *statements) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (h *statements) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	if strings.Contains(event.Query, "pg_notify") || strings.HasPrefix(event.Query, "PRAGMA secure_delete") {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts = append(h.texts, event.Query)
}

func (h *statements) during(tb testing.TB, fn func()) []string {
	tb.Helper()
	h.mu.Lock()
	h.texts = nil
	h.mu.Unlock()
	fn()
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.texts...)
}
