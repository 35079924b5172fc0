package ports

import (
	"context"
	"time"
)

// Prober is a session factory that reports whether it can open sessions. The stores of this module implement it. It is
// safe for concurrent use.
type Prober interface {
	// Probe returns nil if the database can be reached and has the tables of this version of habeas. It only reads, and
	// takes no lock. Returns domain.ErrUnavailable if the database cannot be reached. Returns domain.ErrConfiguration if
	// migrations are pending. Returns context.Canceled or context.DeadlineExceeded if ctx ends first.
	Probe(ctx context.Context) error
}

// Heartbeat is a worker that reports its last sign of life. It is safe for concurrent use.
type Heartbeat interface {
	// Heartbeat returns the instant of the last sign of life, and whether the worker is running. A worker is not running
	// if it was never started or if it was stopped. Heartbeat does not block.
	Heartbeat() (last time.Time, running bool)
}
