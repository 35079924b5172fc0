package supportdesk

import (
	"context"
	"net"
	"time"
)

// WithClock returns a resolver that takes the time from now.
func (r *Resolver) WithClock(now func() time.Time) *Resolver {
	clone := *r
	clone.now = now
	return &clone
}

// MaxBody is what bounds an answer, and MaxPages what bounds a search.
const (
	MaxBody  = maxBody
	MaxPages = maxPages
)

// DialPlain dials as a call does for plain http.
func DialPlain(ctx context.Context, address string) (net.Conn, error) {
	return newTransport(true).DialContext(ctx, "tcp", address)
}

// PlainHasProxy reports whether a call asks for a proxy for plain http.
func PlainHasProxy() bool { return newTransport(true).Proxy != nil }
