//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package system

import "io/fs"

const noFollow = 0

// isTrusted returns true, because the permissions of a file do not show who can write to it.
func isTrusted(fs.FileInfo) bool { return true }
