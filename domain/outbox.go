package domain

import (
	"cmp"
	"strings"
	"time"
)

// Operation says what an outbox entry does in an external system: it erases or rectifies data of a subject.
type Operation string

// The operations.
const (
	OperationErase   Operation = "erase"
	OperationRectify Operation = "rectify"
)

// OutboxStatus is the status of an outbox entry.
type OutboxStatus string

// The statuses of an outbox entry. Succeeded is terminal. Only an operator changes an abandoned entry or a spared
// entry. A requeue of an abandoned entry sets the status pending. A discard sets the status succeeded.
//
//	            claim                    success
//	pending ───────────► in_flight ───────────────► succeeded
//	   ▲                  ▲  │  │
//	   │ requeue    claim │  │  │ permanent error, or a limit is reached
//	   │                  │  │  └──────────────────► abandoned
//	   │                  │  ▼ temporary error           │
//	   │                 failed                          │
//	   └─────────────────────────────────────────────────┘
//
// An entry in flight whose lease has expired can be claimed like a failed entry. A claim abandons an entry that it
// cannot read. An erasure abandons the rectifications of its subject that are pending, failed or in flight. A claimed
// entry that was not tried is settled as pending. An entry in flight is settled as spared if the resolver returns
// ErrSpared. A spared entry counts as done: its operation completes without it.
const (
	OutboxPending   OutboxStatus = "pending"
	OutboxInFlight  OutboxStatus = "in_flight"
	OutboxSucceeded OutboxStatus = "succeeded"
	OutboxFailed    OutboxStatus = "failed"
	OutboxAbandoned OutboxStatus = "abandoned"
	OutboxSpared    OutboxStatus = "spared"
)

// Some error classes that a store sets as OutboxEntry.LastError.
const (
	// LastErrorUnreadable means that the store could not decode the outbox entry, and abandoned it.
	LastErrorUnreadable = "unreadable"
	// LastErrorUnclaimed means that the outbox entry has been due for a long time, and no process has claimed it.
	LastErrorUnclaimed = "unclaimed"
)

// LongestWait is the maximum time for which an external system can postpone the next attempt. A longer wait is
// shortened.
const LongestWait = 24 * time.Hour

// OutboxEntry is one call to an external system for a subject. An erasure, a rectification or a sweep writes the entry
// in the transaction of its local changes. A worker makes the call after the commit. If the transaction rolls back, the
// entry does not exist.
type OutboxEntry struct {
	EntryID     string       `json:"entry_id"` // the idempotency key of the external call
	SubjectID   SubjectID    `json:"subject_id"`
	Resolver    string       `json:"resolver"`
	Ref         SubjectRef   `json:"ref"`
	Operation   Operation    `json:"operation"`
	OperationID string       `json:"operation_id,omitempty"` // the id of the erasure or rectification; "" if unknown
	Corrections Corrections  `json:"corrections"`
	Status      OutboxStatus `json:"status"`
	Attempts    int          `json:"attempts"`
	EnqueuedAt  time.Time    `json:"enqueued_at"`
	RequestedAt time.Time    `json:"requested_at"` // see ErasureCall.RequestedAt; a store replaces zero by EnqueuedAt
	// TurnAt is the place of the entry in the order of claims. Zero means EnqueuedAt. Of the many entries of one person in
	// one system, most get a later turn, so that entries of other people come between. The turn delays no entry while
	// nothing else is due. A store need not return it.
	TurnAt        time.Time  `json:"-"`
	LastAttemptAt *time.Time `json:"last_attempt_at"`
	NextAttemptAt *time.Time `json:"next_attempt_at"` // nil means immediately
	LastError     *string    `json:"last_error"`      // an error class, never a message
	LeaseToken    *string    `json:"lease_token"`
}

// OutboxStatuses returns every status.
func OutboxStatuses() []OutboxStatus {
	return []OutboxStatus{OutboxPending, OutboxInFlight, OutboxSucceeded, OutboxFailed, OutboxAbandoned, OutboxSpared}
}

// IsDone reports whether the operation of an entry with the status need not wait for the entry any more.
func (s OutboxStatus) IsDone() bool { return s == OutboxSucceeded || s == OutboxSpared }

// Settlement is the outcome that a worker records for a claimed outbox entry.
type Settlement struct {
	Entry OutboxEntry // the claimed entry, with its lease token

	// Status is the new status of the outbox entry: succeeded, spared, failed, abandoned or pending.
	//
	//   - Succeeded and spared clear the ref and the corrections of the entry.
	//   - Abandoned clears both for a rectification. It keeps the ref of an erasure, because an operator may requeue the
	//     entry.
	//   - Pending releases an entry that the worker claimed but did not try. It subtracts the attempt that the claim
	//     counted.
	Status OutboxStatus

	// LastError is the error class of a failed or abandoned outbox entry. For any other Status, the settlement clears the
	// LastError of the entry, including the error of an earlier attempt.
	LastError string
	// NextAttemptAt is the earliest instant of the next attempt of a failed outbox entry. Nil means immediately. If
	// Status is not failed, NextAttemptAt is ignored. A pending entry is due immediately.
	NextAttemptAt *time.Time
}

// SettleResult is the result of a settlement.
type SettleResult struct {
	Stale     bool // the lease was lost, and the settlement changed nothing
	Completes bool // with this settlement, all entries of the operation are done; see ports.Outbox.Settle
}

// OutboxBacklog describes the outbox entries of a resolver that have not succeeded.
type OutboxBacklog struct {
	Resolver string                 `json:"resolver"`
	Counts   map[OutboxStatus]int64 `json:"counts"` // for every status except succeeded; may be 0
	// Oldest is the EnqueuedAt of the oldest open outbox entry (pending, failed or in flight). It is nil if no entry is
	// open.
	Oldest *time.Time `json:"oldest"`
	// OldestDue is the earliest instant at which an open outbox entry is due. An entry is due at its NextAttemptAt, or at
	// its EnqueuedAt if NextAttemptAt is nil. OldestDue may lie in the future. It is nil if no entry is open.
	OldestDue *time.Time `json:"oldest_due"`
}

// OutboxFilter selects outbox entries. A zero field selects all entries.
type OutboxFilter struct {
	Resolver       string
	EnqueuedBefore time.Time
	EnqueuedFrom   time.Time
}

// Matches reports whether the filter selects the entry.
func (f OutboxFilter) Matches(e OutboxEntry) bool {
	return (f.Resolver == "" || f.Resolver == e.Resolver) &&
		(f.EnqueuedBefore.IsZero() || e.EnqueuedAt.Before(f.EnqueuedBefore)) &&
		!e.EnqueuedAt.Before(f.EnqueuedFrom)
}

// Discarded is an outbox entry that an operator marked as succeeded, after handling it by other means.
type Discarded struct {
	Entry     OutboxEntry
	Completes bool // with this entry, all entries of the operation have succeeded
}

// Compare orders outbox entries from the oldest to the newest, by EnqueuedAt and then by EntryID. It returns a negative
// number if e comes before other, a positive number if e comes after other, and 0 if they are equal.
func (e OutboxEntry) Compare(other OutboxEntry) int {
	return cmp.Or(e.EnqueuedAt.Compare(other.EnqueuedAt), strings.Compare(e.EntryID, other.EntryID))
}
