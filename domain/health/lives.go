package health

import (
	"context"
)

// checkLives returns the last known result of the count of unknown lives. If this result is older than livesInterval,
// it first counts again, and waits at most a quarter of the timeout. It does not count if the check of the database
// failed.
func (c *Checker) checkLives(ctx context.Context, database CheckStatus) Check {
	known, at, ok := c.lives.load()
	isFresh := ok && c.config.Clock.Now().Sub(at) < livesInterval
	if isFresh || database != CheckOK || c.config.UnknownLives == nil {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout/4)
	defer cancel()
	if read, ok := c.lives.wait(ctx, c.lives.begin(livesTimeout, c.countLives)); ok {
		return read
	}
	return known
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
