package health

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// checkOutbox returns the recent state of the outbox.
func (c *Checker) checkOutbox(ctx context.Context, database CheckStatus) outboxState {
	if state, ok := recent(ctx, c, &c.outbox, database, outboxInterval, c.readOutbox); ok {
		return state
	}
	return outboxOf(CheckUnknown, CheckUnknown)
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
