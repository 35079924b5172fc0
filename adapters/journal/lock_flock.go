//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"errors"
	"os"
	"syscall"
)

// lock waits for the exclusive advisory lock of an open file. Closing the file releases the lock. lock returns nil
// without a lock if the file system supports none.
func lock(file *os.File) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	err = connection.Control(func(fd uintptr) {
		for {
			locked = syscall.Flock(int(fd), syscall.LOCK_EX)
			if !errors.Is(locked, syscall.EINTR) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	if errors.Is(locked, errors.ErrUnsupported) {
		return nil
	}
	return locked
}
