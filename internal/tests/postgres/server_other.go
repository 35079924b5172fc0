//go:build !unix

package postgres

import (
	"context"
	"errors"
)

// Server is a private PostgreSQL server. It is not available on this system.
type Server struct{}

// Option is an option of Start.
type Option func()

// Durable keeps PostgreSQL's default durability.
func Durable() Option { return func() {} }

// Start returns an error, because the supervisor of a private server needs a Unix shell.
func Start(context.Context, ...Option) (*Server, error) {
	return nil, errors.New("postgres: private servers need a Unix system; set the URL of a server in " + DatabaseURLEnv)
}

// URL returns "".
func (*Server) URL() string { return "" }

// Stop does nothing.
func (*Server) Stop() error { return nil }
