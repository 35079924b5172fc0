package supportdesk

import "time"

// WithClock returns a resolver that takes the time from now.
func (r *Resolver) WithClock(now func() time.Time) *Resolver {
	clone := *r
	clone.now = now
	return &clone
}

// MaxBody is what bounds an answer, and MaxPages what bounds a search.
const (
	MaxBody  = maxBody
	MaxPages = maxPages
)
