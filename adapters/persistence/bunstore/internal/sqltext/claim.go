package sqltext

import (
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// BoundedTake is a take of a claim that reads only a range of due instants. A new outbox entry is due at its
// enqueued_at, and a retry at its next_attempt_at. A zero time is no bound. SQLite ignores the bounds.
type BoundedTake struct {
	domain.Take
	FreshFrom   time.Time // the first due instant of new entries
	RetriesFrom time.Time // the first due instant of retries
	Until       time.Time // the last due instant
}

// Unbounded returns the takes without bounds.
func Unbounded(takes []domain.Take) []BoundedTake {
	all := make([]BoundedTake, len(takes))
	for i, take := range takes {
		all[i].Take = take
	}
	return all
}

// Claim returns the statement that claims due outbox entries and returns these entries. It takes the entries of takes,
// and ignores query.Takes.
func (o *Outbox) Claim(query domain.ClaimQuery, takes []BoundedTake) (text string, args []any, err error) {
	d := o.w.Dialect
	all := syntax.Args{
		d.Instant(query.Now), d.Instant(query.LeaseUntil), query.LeaseToken, d.Instant(query.LatestNextAttempt()),
	}
	due, err := d.dueEntries(o.w.Tables, takes, &all)
	return due + " " + o.claim, all, err
}
