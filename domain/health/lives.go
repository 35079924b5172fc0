package health

import (
	"context"
)

// checkLives returns the recent result of the count of unknown lives.
func (c *Checker) checkLives(ctx context.Context, database CheckStatus) Check {
	if c.config.UnknownLives == nil {
		return Check{}
	}
	lives, _ := recent(ctx, c, &c.lives, database, livesInterval, c.countLives)
	return lives
}

// countLives counts the unknown lives. The result is unknown if the count fails.
func (c *Checker) countLives(ctx context.Context) Check {
	result := Check{Name: CheckLives, Status: CheckOK}
	unknown, err := c.config.UnknownLives(ctx)
	switch {
	case err != nil:
		result.Status, result.Err = CheckUnknown, err
	case unknown > 0:
		result.Status = CheckFailed
	}
	c.lives.store(result, c.config.Clock.Now())
	return result
}
