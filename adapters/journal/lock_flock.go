//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockInterval is the time between two attempts to lock a file.
const lockInterval = 5 * time.Millisecond

// lock waits for the exclusive advisory lock of an open file, until ctx ends. Closing the file releases the lock. lock
// returns nil without a lock if the file system does not support locks.
func lock(ctx context.Context, file *os.File) error {
	retry := time.NewTicker(lockInterval)
	defer retry.Stop()
	for {
		switch err := tryLock(file); {
		case isUnsupported(err):
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-retry.C:
		}
	}
}

func tryLock(file *os.File) (err error) {
	connection, failed := file.SyscallConn()
	if failed != nil {
		return failed
	}
	failed = connection.Control(func(fd uintptr) {
		err = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
	})
	return errors.Join(failed, err)
}

// isUnsupported reports whether a file system refuses every lock. A network file system without a lock service returns
// ENOLCK. Some file systems in user space return EINVAL.
func isUnsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.EINVAL)
}
