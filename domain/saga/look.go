package saga

import (
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

const (
	// slowLook is what a look at all that is due may take before looks are shortened.
	slowLook = 3 * time.Millisecond
	// slowLooks is how many of them in a row it takes.
	slowLooks = 10
	// lookRatio is the time from one look at everything to the next, once they are slow, in those that one takes.
	lookRatio = 100
	// longestLook bounds that time.
	longestLook = 15 * time.Second
	// lookLag is how far a shortened look goes back beyond the one before: for sessions that commit late, and for clocks
	// that differ a little. What is older waits for the next look at everything.
	lookLag = time.Second
)

// looks shorten claims where what was settled lies in their way: where a transaction that is open for long keeps a
// database from removing it, each look from the beginning would pass over all of it. It is safe for concurrent use.
type looks struct {
	mu   sync.Mutex
	slow int       // looks in a row
	next time.Time // look at everything
	from map[domain.OutboxTarget]time.Time
}

// shorten sets from where to look, and reports whether that is everything.
func (l *looks) shorten(now time.Time, targets []domain.OutboxTarget) (everything bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slow < slowLooks || !now.Before(l.next) {
		l.next = now.Add(longestLook) // no other meanwhile
		return true
	}
	for i, target := range targets {
		targets[i].DueFrom = l.from[key(target)]
	}
	return false
}

func key(target domain.OutboxTarget) domain.OutboxTarget {
	return domain.OutboxTarget{Resolver: target.Resolver, Operation: target.Operation}
}

// looked notes what was found by a claim at an instant that had the time until now.
func (l *looks) looked(
	at, now time.Time, everything bool, targets []domain.OutboxTarget, batch int, found []domain.OutboxEntry,
) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if took := now.Sub(at); everything {
		l.slow++
		if took < slowLook {
			l.slow = 0
		}
		l.next = now.Add(min(lookRatio*took, longestLook))
	}
	if l.from == nil {
		l.from = map[domain.OutboxTarget]time.Time{}
	}
	of := map[string]int{}
	for _, entry := range found {
		of[entry.Resolver]++
	}
	for _, target := range targets {
		from := at.Add(-lookLag)
		if len(found) >= batch || target.Limit > 0 && of[target.Resolver] >= target.Limit { // there may be more
			from = beginning(from, target, found)
		}
		l.from[key(target)] = from
	}
}

// beginning is from where to look after a claim that took as much as it could: new entries are taken in the order of
// their age, so that no older one is left, and no retry if none was taken.
func beginning(latest time.Time, target domain.OutboxTarget, found []domain.OutboxEntry) time.Time {
	from := latest
	n := 0
	for _, entry := range found {
		if entry.Resolver != target.Resolver || entry.Operation != target.Operation {
			continue
		}
		if n++; entry.Attempts > 1 {
			return target.DueFrom
		}
		if entry.EnqueuedAt.Before(from) {
			from = entry.EnqueuedAt
		}
	}
	if n == 0 {
		return target.DueFrom
	}
	return from
}

// restart has everything looked at again: entries have come back from before.
func (l *looks) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow, l.next = 0, time.Time{}
}
