package ports

import "time"

// Clock tells the time. It is safe for concurrent use.
type Clock interface {
	// Now returns the current instant, in any location and precision.
	Now() time.Time
}

// IDSource makes identifiers for audit events and outbox entries. It is safe for concurrent use.
type IDSource interface {
	// NewID returns an identifier that was never returned before, by any process, of 1 to 255 characters: in practice a
	// UUID in its text form, best one that grows with time (version 7 of RFC 9562), which keeps indexes small.
	NewID() string
}
