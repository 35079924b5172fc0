package ports

import "time"

// Clock returns the current time. It is safe for concurrent use.
type Clock interface {
	// Now returns the current instant, in any location and precision.
	Now() time.Time
}

// IDSource makes identifiers for audit events and outbox entries. It is safe for concurrent use.
type IDSource interface {
	// NewID returns an identifier of 1 to 255 characters that no process has returned before. Implementations usually
	// return a UUID in its text form. A UUID that grows with time (version 7 of RFC 9562) keeps indexes small.
	NewID() string
}
