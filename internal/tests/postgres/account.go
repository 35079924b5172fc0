//go:build unix

package postgres

import "syscall"

// Account returns whom programs run as that refuse root, as servers of PostgreSQL do: nil for the current user.
func Account() (*syscall.Credential, error) { return account() }
