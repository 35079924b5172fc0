//go:build unix

package postgres

import "syscall"

// Account returns an unprivileged account for programs that refuse to run as root, such as the PostgreSQL server. It
// returns nil if the current user is not root, because the current user can then run such a program.
func Account() (*syscall.Credential, error) { return account() }
