package saga

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

const (
	// targetDuration limits the batch of a system. A claim takes only as many entries of a system as the system can
	// presumably process in this time.
	targetDuration = time.Second
	// stoppedAfter: if admit is called more than stoppedAfter times in a row at the same instant, the clock counts as
	// stopped. A test may stop the clock.
	stoppedAfter = 5
	// smoothing is the weight of the last call in the moving average of the durations of a system's calls.
	smoothing = 0.2
)

// throttle is the rate limiter, concurrency limiter and circuit breaker of one system. It is safe for concurrent use.
//
// throttle measures time with the clock of the runner. In a test, this clock may be stopped. A wait would then never
// end. While the clock is stopped, throttle therefore ignores the waits that the breaker or the system requires.
type throttle struct {
	limits    SystemLimits
	first     time.Duration // time until the breaker half-opens, doubled each time up to longest
	longest   time.Duration
	slots     chan struct{} // holds one element per call in progress; its capacity is the limit of concurrent calls
	batch     int
	reporting breakerReport

	mu          sync.Mutex
	admittedAt  time.Time
	sameInstant int // calls of admit at the instant admittedAt, without the first
	pending     int // unfinished entries that admit has reserved or a claim has returned
	average     time.Duration

	waitSince, waitUntil time.Time // bounds of the wait that the system requested

	failures             int // consecutive failures
	opened               int // consecutive openings of the breaker; 0 if it is closed
	openSince, openUntil time.Time
	probing              bool // one entry is reserved as the trial call

	tokens   float64 // calls that may begin immediately
	filledAt time.Time
}

// admit returns the number of entries of the system that a claim may take now, and reserves this number. If the number
// is above 0, the caller must claim entries and then call claimed.
func (t *throttle) admit(now time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sameInstant++; !now.Equal(t.admittedAt) {
		t.sameInstant = 0
	}
	t.admittedAt = now
	if t.during(now, t.waitSince, t.waitUntil) {
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
		most = min(most, cap(t.slots)*max(1, int(targetDuration/t.average))-t.pending)
	}
	if t.limits.Rate > 0 {
		most = min(most, max(1, int(t.limits.Rate*targetDuration.Seconds())))
	}
	if t.limits.Concurrency > 0 {
		most = min(most, t.limits.Concurrency-t.pending)
	}
	most = max(0, most)
	t.pending += most
	return most
}

// claimed reduces the reservation of admit to the n entries that the claim returned.
func (t *throttle) claimed(reserved, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending += n - reserved
	if n == 0 {
		t.probing = false
	}
}

// enter waits until fewer calls than the limit are in progress, but not longer than the given maximum. It reports
// whether the caller may call the system. If it reports true, the caller must call leave after the call.
func (t *throttle) enter(ctx context.Context, most time.Duration) bool {
	select {
	case t.slots <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case t.slots <- struct{}{}:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
		return false
	}
}

func (t *throttle) leave() { <-t.slots }

// begin reports whether a claimed entry may be tried now, and returns the wait that the rate limit requires before the
// call. After a call, the caller must call end. If it makes no call, it must call giveBack.
func (t *throttle) begin(now time.Time) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mustWait(now) {
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

// isBlocked reports whether no claimed entry may be tried now.
func (t *throttle) isBlocked(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mustWait(now)
}

// mustWait reports whether the system has requested a wait, or the breaker is open. The caller must hold mu.
func (t *throttle) mustWait(now time.Time) bool {
	return t.during(now, t.waitSince, t.waitUntil) ||
		t.opened > 0 && !t.probing && t.during(now, t.openSince, t.openUntil)
}

// giveBack releases the reservation of an entry for which no call was made.
func (t *throttle) giveBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending--
	t.probing = false
}

// verdict states whether a call shows that the system works.
type verdict int

const (
	responded verdict = iota // the system responded, even with a refusal
	faltered                 // the system failed and may recover
)

// end records that a call has ended. The parameter requestedWait is the wait that the system requested before the next
// call, or 0.
func (t *throttle) end(began, now time.Time, v verdict, requestedWait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending--
	t.average = cmp.Or(t.average, now.Sub(began))
	t.average += time.Duration(smoothing * float64(now.Sub(began)-t.average))
	if until := now.Add(min(requestedWait, domain.LongestWait)); requestedWait > 0 && until.After(t.waitUntil) {
		t.waitSince, t.waitUntil = now, until
	}
	if v == responded {
		t.failures, t.opened, t.probing = 0, 0, false
		return
	}
	t.failures++
	if t.opened > 0 && !t.probing || t.failures < breakAfter { // a call from before the opening changes nothing
		return
	}
	wait := t.first
	for range t.opened {
		wait = min(2*wait, t.longest)
	}
	t.opened++
	t.openSince, t.openUntil, t.probing = now, now.Add(wait), false
}

// isSlow reports whether the breaker is open, or calls take longer than targetDuration on average.
func (t *throttle) isSlow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened > 0 || t.average > targetDuration
}

func (t *throttle) during(now, since, until time.Time) bool {
	return t.sameInstant < stoppedAfter && !now.Before(since) && now.Before(until)
}
