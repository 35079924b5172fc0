// Package recipe has the code of docs/several-servers.md.
package recipe

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
)

// silence is the longest time that a connection waits for a response. Keep statement_timeout below it.
const silence = 4 * time.Second

// limited is a connection that fails if the server does not respond.
type limited struct{ net.Conn }

func (c limited) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// LimitSilence makes the connections of a configuration fail if the server does not respond.
func LimitSilence(config *pgx.ConnConfig) {
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return limited{conn}, err
	}
}
