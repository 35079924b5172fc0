package domain

import (
	"time"
)

// Take states how many due outbox entries of one operation in one external system a claim may take. A new entry has no
// NextAttemptAt: it was never tried, or a worker has released it. Every other entry is a retry.
type Take struct {
	Resolver  string
	Operation Operation
	Fresh     int // the maximum number of new entries
	Retries   int // the maximum number of retries
}

// Among returns how many of the claimed entries are new entries of the take, and how many are its retries. A claimed
// entry does not say whether it was a retry. Therefore an entry that was tried before counts as a retry, as long as the
// take permits so many.
func (t Take) Among(claimed []OutboxEntry) (fresh, retries int) {
	for _, entry := range claimed {
		switch {
		case entry.Resolver != t.Resolver || entry.Operation != t.Operation:
		case entry.Attempts > 1 && retries < t.Retries:
			retries++
		default:
			fresh++
		}
	}
	return fresh, retries
}

// ClaimQuery states which outbox entries a claim takes, and for how long.
type ClaimQuery struct {
	Takes      []Take    // at most one for each resolver and operation
	Now        time.Time // an entry is due if its NextAttemptAt is not after Now
	LeaseUntil time.Time // the end of the leases; after Now
	LeaseToken string    // identifies the leases of this claim
	// LongestWait is the maximum time by which the process postpones the next attempt of an outbox entry, and the maximum
	// length of its leases. A value below the constant LongestWait has no effect.
	LongestWait time.Duration
}

// LatestNextAttempt returns the latest NextAttemptAt that a process with a correct clock can have set until Now. A
// later NextAttemptAt comes from a process with a wrong clock. The result is Now plus the longest of these durations:
// the constant LongestWait, the field LongestWait, and the length of the lease.
func (q ClaimQuery) LatestNextAttempt() time.Time {
	return q.Now.Add(max(LongestWait, q.LongestWait, q.LeaseUntil.Sub(q.Now)))
}
