//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestAppendWaitsForTheLockUntilItsContextEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "erasures.jsonl")
	file := newFile(t, path)
	must(t, file.Append(t.Context(), line(t, "1")))
	holder, err := os.Open(path)
	must(t, err)
	must(t, syscall.Flock(int(holder.Fd()), syscall.LOCK_EX))

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := file.Append(ctx, line(t, "2")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("another process holds the lock: %v", err)
	}
	must(t, holder.Close())
	must(t, file.Append(t.Context(), line(t, "3")))
	text, err := os.ReadFile(path)
	must(t, err)
	if want := string(line(t, "1")) + string(line(t, "3")); string(text) != want {
		t.Errorf("the file has %d bytes, want %d", len(text), len(want))
	}
}
