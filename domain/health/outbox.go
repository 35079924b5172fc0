package health

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// checkOutbox returns the last known state of the outbox. If this state is older than outboxInterval, it first reads
// the state again, and waits at most a quarter of the timeout for the read. It does not read if the check of the
// database failed.
func (c *Checker) checkOutbox(ctx context.Context, database domain.CheckStatus) outboxState {
	known, at, ok := c.outbox.load()
	if ok && c.config.Clock.Now().Sub(at) < outboxInterval {
		return known
	}
	if !ok {
		known = outboxOf(domain.CheckUnknown, domain.CheckUnknown)
	}
	if database != domain.CheckOK {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout/4)
	defer cancel()
	if read, ok := c.outbox.wait(ctx, c.outbox.begin(outboxTimeout, c.readOutbox)); ok {
		return read
	}
	return known
}

func outboxOf(abandoned, late domain.CheckStatus) outboxState {
	return outboxState{
		domain.HealthCheck{Name: domain.CheckAbandoned, Status: abandoned},
		domain.HealthCheck{Name: domain.CheckLate, Status: late},
	}
}

// readOutbox reads the state of the outbox. The state is unknown if the read fails.
func (c *Checker) readOutbox(ctx context.Context) outboxState {
	state := outboxOf(domain.CheckUnknown, domain.CheckUnknown)
	err := c.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		backlogs, err := s.OutboxAdmin().Backlog(ctx)
		if err == nil {
			state = c.judge(backlogs)
		}
		return err
	})
	if err != nil {
		state = outboxOf(domain.CheckUnknown, domain.CheckUnknown)
		state.abandoned.Err, state.late.Err = err, err
	}
	c.outbox.store(state, c.config.Clock.Now())
	return state
}

func (c *Checker) judge(backlogs []domain.OutboxBacklog) outboxState {
	state, now := outboxOf(domain.CheckOK, domain.CheckOK), c.config.Clock.Now()
	for _, backlog := range backlogs {
		if backlog.Counts[domain.OutboxAbandoned] > 0 {
			state.abandoned.Status = domain.CheckFailed
		}
		if backlog.Oldest != nil && now.Sub(*backlog.Oldest) >= c.config.LateAfter {
			state.late.Status = domain.CheckFailed
		}
	}
	return state
}
