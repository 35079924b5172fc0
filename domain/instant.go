package domain

import "time"

// Instant returns t in UTC, truncated to whole microseconds, which is the precision of PostgreSQL. This module stores
// and returns every instant in this form. An instant that a service returns therefore equals the instant that it reads
// back later.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
