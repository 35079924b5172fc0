package saga

import (
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

const (
	// slowLook is the duration above which a look at all due entries counts as slow. A look is the part of a claim that
	// reads the due entries in a range of due times. See the types look and looks.
	slowLook = 3 * time.Millisecond
	// slowLooks is the number of consecutive slow looks after which claims read only a short range of due times.
	slowLooks = 10
	// lookRatio sets the time from one slow look at everything to the next such look, as a multiple of the duration of the
	// first.
	lookRatio = 100
	// longestLook is the upper limit of that time.
	longestLook = 15 * time.Second
	// lookLag is the overlap of a shortened look with the previous look. The overlap covers sessions that commit late and
	// clocks that differ slightly. An older entry waits for the next look at everything.
	lookLag = time.Second
)

// looks chooses the range of due times that each claim reads. Reading one such range is a look. looks shortens the
// range if settled entries slow down the claims. While a long transaction prevents the database from removing dead
// rows, each claim that starts at the beginning of the index would read all dead rows. A shortened look reads the
// entries that came due recently, and from time to time one span of the time before (see spans). looks is safe for
// concurrent use.
type looks struct {
	mu    sync.Mutex
	slow  int       // consecutive slow looks
	next  time.Time // time of the next look at everything, or of the next round of spans
	from  map[domain.OutboxTarget]time.Time
	spans spans
}

// look is the range of due times that a claim looks at.
type look struct {
	everything bool
	lately     bool // entries that came due recently
	span       bool // entries that came due between from and until
	from       time.Time
	until      time.Time
}

// plan returns the look of the next claim and sets DueFrom of the targets. If again is set, the claim follows a claim
// that found no entry.
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

// underWay reports whether a round of looks at the spans is in progress.
func (l *looks) underWay() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slow >= slowLooks && l.spans.underWay()
}

// failed gives back the span of a claim that failed.
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

// lookedAll records the duration of a look at everything that ended now.
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

// lookedAt records the duration of a look at a span and the entries that it found. If the span may hold more due
// entries, the looks at recent entries go back to the beginning of these. If the look ends a round that was fast in
// total, the next looks are at everything again.
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

// looked records the entries that a claim found at an instant, in a look at everything or at recent entries.
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

// mayHaveMore reports whether a claim took as many entries of a target as its limit allowed.
func mayHaveMore(target domain.OutboxTarget, batch int, found []domain.OutboxEntry) bool {
	return len(found) >= batch || target.Limit > 0 && of(found, target.Resolver) >= target.Limit
}

// beginning returns the instant from which to look after a claim that reached its limit. A claim takes new entries in
// the order of their age, so no older new entry is left. If the claim took no retry, no retry is left either.
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

// restart makes the next claim start a new round or look at everything, because entries were requeued with older times.
func (l *looks) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next, l.spans.turn = time.Time{}, len(l.spans.all)
}
