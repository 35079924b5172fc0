package supportdesk

import (
	"context"
	"net"
	"time"
)

// WithClock returns a copy of the resolver with the given clock.
func (r *Resolver) WithClock(now func() time.Time) *Resolver {
	clone := *r
	clone.now = now
	return &clone
}

// MaxBody is the maximum size of a response in bytes. MaxPages is the maximum number of pages of a search.
const (
	MaxBody  = maxBody
	MaxPages = maxPages
)

// DialPlain opens a connection in the same way as a call to a desk with plain http.
func DialPlain(ctx context.Context, address string) (net.Conn, error) {
	return newTransport(true).DialContext(ctx, "tcp", address)
}

// PlainHasProxy reports whether a call to a desk with plain http can use a proxy.
func PlainHasProxy() bool { return newTransport(true).Proxy != nil }
