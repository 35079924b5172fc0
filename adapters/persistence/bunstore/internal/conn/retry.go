package conn

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	maxAttempts  = 5
	firstBackoff = 10 * time.Millisecond // doubled for each further attempt, and randomized
)

// Retry runs a transaction. If the transaction fails because of a concurrent transaction, Retry runs it again, up to
// maxAttempts times in total.
func Retry(ctx context.Context, transaction func() error) error {
	err := transaction()
	for attempt := 1; Again(ctx, err, attempt); attempt++ {
		err = transaction()
	}
	return err
}

// Again reports whether to run a failed transaction again: whether err is Retryable (caused by a concurrent
// transaction) and fewer than maxAttempts attempts were made. Before Again returns true, it waits. If ctx ends first,
// it returns false.
func Again(ctx context.Context, err error, attempt int) bool {
	return err != nil && attempt < maxAttempts && Retryable(err) && backOff(ctx, attempt)
}

// backOff waits before the next attempt and returns true. It returns false if the context ends during the wait.
func backOff(ctx context.Context, attempt int) bool {
	wait := firstBackoff << (attempt - 1)
	timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // jitter, which does not have to be secure
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
