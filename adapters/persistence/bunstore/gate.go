package bunstore

import "context"

// gate lets as many in at once as the pool has connections, and those who wait in the order in which they came.
// database/sql gives a connection that becomes free to any of those who wait, so that under load some wait for very long.
type gate chan struct{}

// newGate returns a gate for so many connections; 0 means no limit.
func newGate(connections int) gate {
	if connections <= 0 {
		return nil
	}
	return make(gate, connections)
}

// enter waits for a place, until the context ends.
func (g gate) enter(ctx context.Context) error {
	if g == nil {
		return nil
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// crowded reports whether who comes now has to wait.
func (g gate) crowded() bool { return g != nil && len(g) == cap(g) }

func (g gate) leave() {
	if g != nil {
		<-g
	}
}

// gated is a transaction that leaves the gate when it ends.
type gated struct {
	transaction
	gate gate
}

func (g gated) commit(ctx context.Context) error {
	defer g.gate.leave()
	return g.transaction.commit(ctx)
}

func (g gated) rollback(ctx context.Context) error {
	defer g.gate.leave()
	return g.transaction.rollback(ctx)
}
