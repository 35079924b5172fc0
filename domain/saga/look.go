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
// database from removing it, each look from the beginning would pass over all of it. Looks are then at what has come
// due lately, and now and then at one span of the time before. It is safe for concurrent use.
type looks struct {
	mu    sync.Mutex
	slow  int       // looks in a row
	next  time.Time // look at everything, or round of looks at the spans
	from  map[domain.OutboxTarget]time.Time
	spans spans
}

// look is what a claim looks at.
type look struct {
	everything bool
	lately     bool // at what has come due lately
	span       bool // at a span
	from       time.Time
	until      time.Time
}

// plan returns what a claim looks at, and sets from where. If again is set, the claim follows one that found nothing.
func (l *looks) plan(now time.Time, targets []domain.OutboxTarget, again bool) look {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slow < slowLooks {
		return look{everything: true}
	}
	if l.spans.turn >= len(l.spans.all) && !now.Before(l.next) {
		l.spans.start(now.Add(-lookLag))
	}
	planned := look{lately: !again}
	if l.spans.underWay() {
		planned.span = true
		planned.from, planned.until = l.spans.take()
	}
	for i, target := range targets {
		targets[i].DueFrom = l.from[key(target)]
	}
	return planned
}

// underWay reports whether a round of looks is.
func (l *looks) underWay() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slow >= slowLooks && l.spans.underWay()
}

// failed gives back what a claim that failed has looked at.
func (l *looks) failed(planned look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if planned.span {
		l.spans.giveBack()
	}
}

func key(target domain.OutboxTarget) domain.OutboxTarget {
	return domain.OutboxTarget{Resolver: target.Resolver, Operation: target.Operation}
}

// lookedAll notes how long a look at everything took until now.
func (l *looks) lookedAll(took time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow++
	if took < slowLook {
		l.slow = 0
	}
	if l.slow == slowLooks {
		l.spans = spans{}
		l.spans.start(now.Add(-lookLag - took))
		l.spans.turn = len(l.spans.all)
	}
	l.next = now.Add(min(lookRatio*took, longestLook))
}

// lookedAt notes how long a look at a span took until now, and what was found. Where there may be more, looks at what
// has come due lately go back that far. If it was the last of a round that was fast as a whole, further looks are at
// everything.
func (l *looks) lookedAt(
	planned look, took time.Duration, now time.Time, targets []domain.OutboxTarget, batch int, found []domain.OutboxEntry,
) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, target := range targets {
		target.DueFrom = planned.from
		if before := l.from[key(target)]; mayHaveMore(target, batch, found) {
			if from := beginning(before, target, found); from.Before(before) {
				l.from[key(target)] = from
			}
		}
	}
	if !l.spans.looked(took) {
		return
	}
	l.next = now.Add(min(lookRatio*l.spans.cost, longestLook))
	if l.spans.cost < slowLook {
		l.slow, l.spans = 0, spans{}
	}
}

// looked notes what was found by a claim at an instant, of everything or of what has come due lately.
func (l *looks) looked(at time.Time, targets []domain.OutboxTarget, batch int, found []domain.OutboxEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from == nil {
		l.from = map[domain.OutboxTarget]time.Time{}
	}
	for _, target := range targets {
		from := at.Add(-lookLag)
		if mayHaveMore(target, batch, found) {
			from = beginning(from, target, found)
		}
		l.from[key(target)] = from
	}
}

// mayHaveMore reports whether a claim took of a target as much as it could.
func mayHaveMore(target domain.OutboxTarget, batch int, found []domain.OutboxEntry) bool {
	return len(found) >= batch || target.Limit > 0 && of(found, target.Resolver) >= target.Limit
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
	l.next, l.spans.turn = time.Time{}, len(l.spans.all)
}
