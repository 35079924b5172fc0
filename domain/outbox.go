package domain

import "time"

// Operation is what an outbox entry asks of an external system.
type Operation string

// The operations.
const (
	OperationErase   Operation = "erase"
	OperationRectify Operation = "rectify"
)

// OutboxStatus is where an outbox entry stands.
type OutboxStatus string

// The statuses. Succeeded and abandoned are terminal.
//
//	            claim                    success
//	pending ───────────► in_flight ───────────────► succeeded
//	   ▲                  ▲  │  │
//	   │ requeue    claim │  │  │ refused for good, or too often
//	   │                  │  │  └──────────────────► abandoned
//	   │                  │  ▼ failed for now            │
//	   │                 failed                          │
//	   └─────────────────────────────────────────────────┘
//
// An entry in flight whose lease has expired can be claimed like one that failed. An entry that cannot be read is
// abandoned by the claim.
const (
	OutboxPending   OutboxStatus = "pending"
	OutboxInFlight  OutboxStatus = "in_flight"
	OutboxSucceeded OutboxStatus = "succeeded"
	OutboxFailed    OutboxStatus = "failed"
	OutboxAbandoned OutboxStatus = "abandoned"
)

// Classes of error that a store gives an entry.
const (
	// LastErrorUnreadable is the class of an entry that a store abandoned because it cannot be read.
	LastErrorUnreadable = "unreadable"
	// LastErrorUnclaimed is the class of an entry that was due for long, and that no process took.
	LastErrorUnclaimed = "unclaimed"
)

// LongestWait is the longest that an entry waits for its next attempt where an external system asks for a wait.
const LongestWait = 24 * time.Hour

// Corrections are the right values of a rectification (Art. 16 GDPR), by category.
type Corrections map[Category]any

// OutboxEntry is one call that an external system still owes a subject. It is written in the transaction that
// erases or rectifies locally, and carried out afterwards, so that neither can happen without the other.
type OutboxEntry struct {
	EntryID       string       `json:"entry_id"` // the idempotency key of the external call
	SubjectID     SubjectID    `json:"subject_id"`
	Resolver      string       `json:"resolver"`
	Ref           SubjectRef   `json:"ref"`
	Operation     Operation    `json:"operation"`
	OperationID   string       `json:"operation_id,omitempty"` // of the erasure or rectification; "" if unknown
	Corrections   Corrections  `json:"corrections"`
	Status        OutboxStatus `json:"status"`
	Attempts      int          `json:"attempts"`
	EnqueuedAt    time.Time    `json:"enqueued_at"`
	LastAttemptAt *time.Time   `json:"last_attempt_at"`
	NextAttemptAt *time.Time   `json:"next_attempt_at"` // nil means at once
	LastError     *string      `json:"last_error"`      // an error class, never a message
	LeaseToken    *string      `json:"lease_token"`
}

// OutboxTarget is an operation at an external system that a process can carry out.
type OutboxTarget struct {
	Resolver  string
	Operation Operation
	// LongestWait is the longest that the process has an entry wait for its next attempt, or keeps one leased. What is
	// shorter than the constant LongestWait stands for that.
	LongestWait time.Duration
	// Limit is how many entries of the resolver, whatever their operation, one claim takes at most. Of the targets of one
	// resolver, the lowest Limit counts. 0 or less stands for no limit but that of the claim.
	Limit int
	// DueFrom is for a caller that has claimed before: the claim may pass over entries of the target that have been due
	// since before that instant, new ones by EnqueuedAt and others by NextAttemptAt. The zero time passes over none.
	DueFrom time.Time
	// DueUntil is for such a caller, too: the claim may also pass over entries that came due after that instant. The zero
	// time passes over none.
	DueUntil time.Time
}

// LatestNextAttempt is the last instant for which clocks that agree could have put off an entry, as a claim sees it:
// the longest wait after at, of LongestWait, of the lease, and of those of the targets. An entry that is put off for
// longer was put off by a clock that was wrong.
func LatestNextAttempt(at, leaseUntil time.Time, known []OutboxTarget) time.Time {
	longest := max(LongestWait, leaseUntil.Sub(at))
	for _, target := range known {
		longest = max(longest, target.LongestWait)
	}
	return at.Add(longest)
}

// OutboxStatuses lists every status.
func OutboxStatuses() []OutboxStatus {
	return []OutboxStatus{OutboxPending, OutboxInFlight, OutboxSucceeded, OutboxFailed, OutboxAbandoned}
}

// Settlement is what came of a claimed entry.
type Settlement struct {
	Entry OutboxEntry // as it was claimed, with its lease token

	// Status is succeeded, failed or abandoned; or pending for an entry that was claimed but never tried, which gives
	// it back with the attempt taken off. What succeeded keeps neither its ref nor its corrections; an abandoned
	// rectification neither, and an abandoned erasure keeps its ref, which a requeue needs.
	Status OutboxStatus

	// LastError is an error class, for what failed or was abandoned; the entry has none after any other outcome, not
	// even that of an attempt before.
	LastError string
	// NextAttemptAt counts for what failed only: not before, and nil means at once. What is given back is due at once.
	NextAttemptAt *time.Time
}

// SettleResult is what became of a settlement.
type SettleResult struct {
	Stale     bool // the lease was lost: another attempt has the entry now, or had it
	Completes bool // with it, the last entry of the operation has succeeded
}

// OutboxBacklog is what is left to be done for a resolver.
type OutboxBacklog struct {
	Resolver string                 `json:"resolver"`
	Counts   map[OutboxStatus]int64 `json:"counts"` // of every status but succeeded, with 0 if need be
	// Oldest is when the oldest open entry (pending, failed or in flight) was enqueued; nil if there is none.
	Oldest *time.Time `json:"oldest"`
	// OldestDue is the earliest instant at which an open entry is or was due: its NextAttemptAt, or else its EnqueuedAt.
	// It may lie in the future. It is nil if no entry is open.
	OldestDue *time.Time `json:"oldest_due"`
}

// OutboxFilter chooses entries. A zero field chooses all.
type OutboxFilter struct {
	Resolver       string
	EnqueuedBefore time.Time
	EnqueuedFrom   time.Time
}

// Matches reports whether the filter chooses the entry.
func (f OutboxFilter) Matches(e OutboxEntry) bool {
	return (f.Resolver == "" || f.Resolver == e.Resolver) &&
		(f.EnqueuedBefore.IsZero() || e.EnqueuedAt.Before(f.EnqueuedBefore)) &&
		!e.EnqueuedAt.Before(f.EnqueuedFrom)
}

// Discarded is an entry that a person has dealt with.
type Discarded struct {
	Entry     OutboxEntry
	Completes bool // with it, nothing of the operation is left
}
