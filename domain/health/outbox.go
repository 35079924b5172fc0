package health

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// checkOutbox returns the last known state of the outbox. If this state is older than outboxInterval, it first reads
// the state again, and waits at most a quarter of the timeout for the read. It does not read if the check of the
// database failed.
func (c *Checker) checkOutbox(ctx context.Context, database CheckStatus) outboxState {
	known, at, ok := c.outbox.load()
	if ok && c.config.Clock.Now().Sub(at) < outboxInterval {
		return known
	}
	if !ok {
		known = outboxOf(CheckUnknown, CheckUnknown)
	}
	if database != CheckOK {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout/4)
	defer cancel()
	if read, ok := c.outbox.wait(ctx, c.outbox.begin(outboxTimeout, c.readOutbox)); ok {
		return read
	}
	return known
}

func outboxOf(abandoned, late CheckStatus) outboxState {
	return outboxState{
		Check{Name: CheckAbandoned, Status: abandoned},
		Check{Name: CheckLate, Status: late},
	}
}

// readOutbox reads the state of the outbox. The state is unknown if the read fails.
func (c *Checker) readOutbox(ctx context.Context) outboxState {
	state := outboxOf(CheckUnknown, CheckUnknown)
	err := c.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		backlogs, err := s.OutboxAdmin().Backlog(ctx)
		if err == nil {
			state = c.judge(backlogs)
		}
		return err
	})
	if err != nil {
		state = outboxOf(CheckUnknown, CheckUnknown)
		state.abandoned.Err, state.late.Err = err, err
	}
	c.outbox.store(state, c.config.Clock.Now())
	return state
}

func (c *Checker) judge(backlogs []domain.OutboxBacklog) outboxState {
	state, now := outboxOf(CheckOK, CheckOK), c.config.Clock.Now()
	for _, backlog := range backlogs {
		if backlog.Counts[domain.OutboxAbandoned] > 0 {
			state.abandoned.Status = CheckFailed
		}
		if backlog.Oldest != nil && now.Sub(*backlog.Oldest) >= c.config.LateAfter {
			state.late.Status = CheckFailed
		}
	}
	return state
}
