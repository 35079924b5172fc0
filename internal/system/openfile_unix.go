//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package system

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow makes an open of a link fail, and an open of a named pipe return at once.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isTrusted reports whether only the own user and root can write. A group with the number of the owner is the private
// group of that user.
func isTrusted(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid != 0 && int(owner.Uid) != os.Geteuid() {
		return false
	}
	others := fs.FileMode(0o022)
	if owner.Gid == owner.Uid {
		others = 0o002
	}
	return info.Mode().Perm()&others == 0
}
