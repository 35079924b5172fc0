package ports

import "time"

// Heartbeat is a worker that reports when it was last active. A Heartbeat is safe for concurrent use.
type Heartbeat interface {
	// Heartbeat returns the instant at which the worker was last active, and whether the worker is running. A worker that
	// was never started, or that has ended after a stop, is not running. Heartbeat does not block.
	Heartbeat() (last time.Time, running bool)
}
