package health

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Duties knows the state of the background duties. *duties.Book implements it.
type Duties interface {
	Read(ctx context.Context, s ports.Session) ([]domain.Duty, error)
	Merge(stored []domain.Duty) []domain.Duty
}

var checkOf = map[domain.DutyName]CheckName{
	domain.DutyWorker: CheckWorkers, domain.DutyJournal: CheckJournal,
	domain.DutySweep: CheckSweep, domain.DutyVerification: CheckVerification,
}

// checkDuties returns a failed check for each duty that is not fulfilled or has leftovers. It judges the duties as they
// were read at most outboxInterval ago, together with what this process knows now.
func (c *Checker) checkDuties(ctx context.Context, database CheckStatus) (failed []Check) {
	if c.config.Duties == nil {
		return nil
	}
	known, _ := recent(ctx, c, &c.duties, database, outboxInterval, c.readDuties)
	now := c.config.Clock.Now()
	for _, duty := range c.config.Duties.Merge(known) {
		if duty.State(now) != domain.DutyFulfilled || duty.LeftOver > 0 {
			failed = append(failed, Check{Name: checkOf[duty.Name], Status: CheckFailed})
		}
	}
	return failed
}

// readDuties reads the duties. If the read fails, the last known state stays until the next read.
func (c *Checker) readDuties(ctx context.Context) (all []domain.Duty) {
	err := c.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		all, err = c.config.Duties.Read(ctx, s)
		return err
	})
	if err != nil {
		all, _, _ = c.duties.load()
	}
	c.duties.store(all, c.config.Clock.Now())
	return all
}
