package saga

import (
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

const (
	// swift is the target duration of the calls of a batch. A slower system gets fewer entries per claim.
	swift = time.Second
	// standstill is the number of consecutive calls of admit at the same instant after which the clock counts as stopped.
	standstill = 5
	// smoothing is the weight of a call in the moving average of the durations of a system's calls.
	smoothing = 0.2
)

// throttle is the rate limiter, concurrency limiter and circuit breaker of one system. It is safe for concurrent use.
//
// It measures time with the clock of the runner. If the clock stands still, as in tests, a wait would never end, so
// throttle does not start a wait.
type throttle struct {
	limits  SystemLimits
	breakAt int           // consecutive failures that open the breaker
	first   time.Duration // time until the breaker half-opens, doubled each time up to longest
	longest time.Duration
	lanes   chan struct{} // one element per concurrent call
	batch   int
	turns   turns

	mu       sync.Mutex
	lookedAt time.Time
	still    int // earlier calls of admit at the instant lookedAt
	pending  int // entries that are reserved or claimed, and not finished
	average  time.Duration

	heldSince, heldUntil time.Time // a wait that the system requested

	failures             int // consecutive failures
	opened               int // consecutive openings of the breaker; 0 if it is closed
	openSince, openUntil time.Time
	probing              bool // one entry is reserved as the trial call

	tokens   float64 // calls that may begin immediately
	filledAt time.Time
}

// admit returns the number of entries that may be claimed now and reserves them. If the number is above 0, the caller
// must report the result of the claim with claimed.
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

// claimed records that a claim returned n of the admitted entries.
func (t *throttle) claimed(admitted, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending += n - admitted
	if n == 0 {
		t.probing = false
	}
}

// enter waits for a free lane, for at most the duration most. It reports false if no lane became free. If it reports
// true, the caller must call leave.
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

// begin reports whether a claimed entry may be tried now, and the wait before the call. If begin reports false, the
// caller must call giveBack. Otherwise the caller must call end after the call, or giveBack if it makes no call.
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

// giveBack ends the reservation of an entry that was not called.
func (t *throttle) giveBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending--
	t.probing = false
}

// verdict classifies the result of a call with regard to the system.
type verdict int

const (
	responded verdict = iota // the system responded, even with a refusal
	faltered                 // the system failed and may recover
)

// end records a call that began at an instant. The parameter after is the wait that the system requested, or 0.
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
	if v == responded {
		t.failures, t.opened, t.probing = 0, 0, false
		return
	}
	t.failures++
	if t.opened > 0 && !t.probing || t.failures < t.breakAt { // a call from before the opening changes nothing
		return
	}
	wait := t.first
	for range t.opened {
		wait = min(2*wait, t.longest)
	}
	t.opened++
	t.openSince, t.openUntil, t.probing = now, now.Add(wait), false
}

// isSlow reports whether the breaker is open or an average call takes longer than swift.
func (t *throttle) isSlow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened > 0 || t.average > swift
}

func (t *throttle) during(now, since, until time.Time) bool {
	return t.still < standstill && !now.Before(since) && now.Before(until)
}
