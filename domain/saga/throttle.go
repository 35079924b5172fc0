package saga

import (
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

const (
	// swift is how long the calls of a batch should take together. A system that is slower gets fewer entries at a time.
	swift = time.Second
	// standstill is after how many looks at one instant a clock is taken for one that does not move.
	standstill = 5
	// smoothing is how much a call weighs in what a system's calls take on average.
	smoothing = 0.2
)

// throttle decides what may be asked of one system. It is safe for concurrent use.
//
// It measures by the clock that it is given. Where that stands still, as in tests, no wait could ever end, so that none
// begins.
type throttle struct {
	limits  SystemLimits
	breakAt int           // failures in a row
	first   time.Duration // that the breaker stays open, doubled each time up to longest
	longest time.Duration
	lanes   chan struct{} // calls at once
	batch   int
	turns   turns

	mu       sync.Mutex
	lookedAt time.Time
	still    int // looks before that one at the same instant
	pending  int // entries that are claimed, or may be, and are not done with
	average  time.Duration

	heldSince, heldUntil time.Time // it has asked for a wait

	failures             int // in a row
	opened               int // times in a row
	openSince, openUntil time.Time
	probing              bool // one entry may be tried, or is

	tokens   float64 // calls that may begin at once
	filledAt time.Time
}

// admit returns the number of entries that may be claimed now, 0 for none, and reserves as many. If it is above 0, the
// caller reports the result of the claim with claimed.
func (t *throttle) admit(now time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.still++; !now.Equal(t.lookedAt) {
		t.still = 0
	}
	t.lookedAt = now
	if t.during(now, t.heldSince, t.heldUntil) {
		return 0
	}
	if t.opened > 0 {
		if t.probing || t.during(now, t.openSince, t.openUntil) {
			return 0
		}
		t.probing = true
		t.pending++
		return 1
	}
	most := t.batch
	if t.average > 0 {
		most = min(most, cap(t.lanes)*max(1, int(swift/t.average))-t.pending)
	}
	if t.limits.Rate > 0 {
		most = min(most, max(1, int(t.limits.Rate*swift.Seconds())))
	}
	if t.limits.Concurrency > 0 {
		most = min(most, t.limits.Concurrency-t.pending)
	}
	most = max(0, most)
	t.pending += most
	return most
}

// claimed says how many entries were claimed after as many were admitted.
func (t *throttle) claimed(admitted, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending += n - admitted
	if n == 0 {
		t.probing = false
	}
}

// enter waits for a call's turn, at most for so long, and reports false if it has none. Otherwise, leave must follow.
func (t *throttle) enter(ctx context.Context, most time.Duration) bool {
	select {
	case t.lanes <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case t.lanes <- struct{}{}:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
		return false
	}
}

func (t *throttle) leave() { <-t.lanes }

// begin reports whether an entry that was claimed may be tried now, and after what wait. Where it may not, giveBack has
// to follow, else end.
func (t *throttle) begin(now time.Time) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.during(now, t.heldSince, t.heldUntil) || t.opened > 0 && !t.probing && t.during(now, t.openSince, t.openUntil) {
		return 0, false
	}
	if t.limits.Rate <= 0 {
		return 0, true
	}
	burst := float64(max(1, t.limits.Burst))
	if t.filledAt.IsZero() {
		t.tokens = burst
	} else if passed := now.Sub(t.filledAt); passed > 0 {
		t.tokens = min(burst, t.tokens+passed.Seconds()*t.limits.Rate)
	}
	t.filledAt = now
	t.tokens--
	if t.tokens >= 0 {
		return 0, true
	}
	return time.Duration(-t.tokens / t.limits.Rate * float64(time.Second)), true
}

// giveBack ends what was claimed without a call.
func (t *throttle) giveBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending--
	t.probing = false
}

// verdict is what a call says about its system.
type verdict int

const (
	answered verdict = iota // whatever it said
	faltered                // it may do better another time
)

// end ends a call that began at an instant. After is the wait that the system asked for, 0 for none.
func (t *throttle) end(began, now time.Time, v verdict, after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending--
	if t.average == 0 {
		t.average = now.Sub(began)
	}
	t.average += time.Duration(smoothing * float64(now.Sub(began)-t.average))
	if until := now.Add(min(after, domain.LongestWait)); after > 0 && until.After(t.heldUntil) {
		t.heldSince, t.heldUntil = now, until
	}
	if v == answered {
		t.failures, t.opened, t.probing = 0, 0, false
		return
	}
	t.failures++
	if t.opened > 0 && !t.probing || t.failures < t.breakAt { // calls that began before it opened say nothing new
		return
	}
	wait := t.first
	for range t.opened {
		wait = min(2*wait, t.longest)
	}
	t.opened++
	t.openSince, t.openUntil, t.probing = now, now.Add(wait), false
}

// isSlow reports whether a call takes so long that a batch of them is not done soon.
func (t *throttle) isSlow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened > 0 || t.average > swift
}

func (t *throttle) during(now, since, until time.Time) bool {
	return t.still < standstill && !now.Before(since) && now.Before(until)
}
