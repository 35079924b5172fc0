//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package journal

import (
	"context"
	"os"
)

// lock takes no lock, because the system has no flock.
func lock(context.Context, *os.File) error { return nil }
