package ports

import (
	"context"
	"time"
)

// Prober is a session factory that says whether it can open sessions. The stores of this module implement it. It is
// safe for concurrent use.
type Prober interface {
	// Probe returns nil if the database can be reached and has the tables of habeas of this version. It only reads, and
	// takes no lock. Returns domain.ErrUnavailable if the database cannot be reached, domain.ErrConfiguration if
	// migrations are pending, and context.Canceled or context.DeadlineExceeded if ctx ends first.
	Probe(ctx context.Context) error
}

// Heartbeat is a worker that says when it was last seen to work. It is safe for concurrent use.
type Heartbeat interface {
	// Heartbeat returns the instant of the last sign of life, and whether the worker is running. A worker that was never
	// started, or was stopped, is not running. Heartbeat waits for nothing.
	Heartbeat() (last time.Time, running bool)
}
