package ports

import (
	"context"
	"time"
)

// Prober is a session factory that reports whether it can open sessions. The stores of this module implement Prober. A
// Prober is safe for concurrent use.
type Prober interface {
	// Probe returns nil if the database can be reached and has the tables of this version of habeas. It only reads, and
	// takes no lock. Probe returns domain.ErrUnavailable if the database cannot be reached. Probe returns
	// domain.ErrConfiguration if migrations are pending, if a table, a column or a privilege is missing, or if the tables
	// belong to another data map. It returns domain.ErrReadOnlyDatabase if all is in order, but the database can only be
	// read, as on a standby: exports then work, and nothing else. Probe returns context.Canceled or
	// context.DeadlineExceeded if ctx ends first.
	Probe(ctx context.Context) error
}

// Heartbeat is a worker that reports when it was last active. A Heartbeat is safe for concurrent use.
type Heartbeat interface {
	// Heartbeat returns the instant at which the worker was last active, and whether the worker is running. A worker that
	// was never started or that was stopped is not running. Heartbeat does not block.
	Heartbeat() (last time.Time, running bool)
}
