//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"io/fs"
	"syscall"
	"testing"
)

func TestFileSystemsWithoutLocksAreRecognized(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.ENOLCK: true, syscall.EINVAL: true, syscall.ENOTSUP: true, syscall.ENOSYS: true,
		syscall.EWOULDBLOCK: false, syscall.EINTR: false, syscall.EIO: false, fs.ErrClosed: false,
	} {
		if got := isUnsupported(&fs.PathError{Op: "flock", Err: err}); got != want {
			t.Errorf("%v: got %v", err, got)
		}
	}
}
