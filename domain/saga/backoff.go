package saga

import (
	"time"
)

// backoff returns the wait after a failed attempt. The wait doubles with each attempt up to MaxBackoff, and the jitter
// shortens it. If the external system has requested a longer wait, backoff returns the requested wait. The caller
// limits the requested wait, so that a system cannot postpone an entry for a year.
func (r *Runner) backoff(attempts int, after time.Duration) time.Duration {
	wait := r.config.FirstBackoff
	for i := 1; i < attempts && wait < r.config.MaxBackoff; i++ {
		wait *= 2
	}
	wait = min(wait, r.config.MaxBackoff)
	if r.config.Jitter != nil {
		wait -= time.Duration(min(max(r.config.Jitter(), 0), 1) * float64(wait) / 2)
	}
	return max(wait, after)
}
