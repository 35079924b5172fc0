//go:build !unix

package postgres

import (
	"context"
	"errors"
)

// Server is a private PostgreSQL server; this system can't have one.
type Server struct{}

// Option changes how Start sets a server up.
type Option func()

// Durable keeps PostgreSQL's stock durability.
func Durable() Option { return func() {} }

// Start fails: the clean-up of a private server needs a Unix shell.
func Start(context.Context, ...Option) (*Server, error) {
	return nil, errors.New("postgres: private servers need a Unix system; name a server in " + DatabaseURLEnv)
}

// URL is empty.
func (*Server) URL() string { return "" }

// Stop does nothing.
func (*Server) Stop() error { return nil }
