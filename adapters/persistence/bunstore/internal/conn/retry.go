package conn

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	maxAttempts  = 5
	firstBackoff = 10 * time.Millisecond // doubled for each further attempt, and spread at random
)

// Retry runs a transaction, again if it lost against another one.
func Retry(ctx context.Context, transaction func() error) error {
	err := transaction()
	for attempt := 1; Again(ctx, err, attempt); attempt++ {
		err = transaction()
	}
	return err
}

// Again reports whether a transaction that failed with err is to be run again: if it lost against another one, at most
// maxAttempts times. It waits before it returns true.
func Again(ctx context.Context, err error, attempt int) bool {
	return err != nil && attempt < maxAttempts && Retryable(err) && backOff(ctx, attempt)
}

// backOff waits before another attempt, and reports false when the context ends first.
func backOff(ctx context.Context, attempt int) bool {
	wait := firstBackoff << (attempt - 1)
	timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // spreads retries; nothing depends on it being secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
