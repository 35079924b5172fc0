//go:build unix

package postgres

import "syscall"

// Account returns the account for programs that refuse to run as root, such as the PostgreSQL server. It returns nil
// for the current user.
func Account() (*syscall.Credential, error) { return account() }
