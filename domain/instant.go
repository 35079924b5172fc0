package domain

import "time"

// Instant is t as this module stores and returns it: in UTC, cut to whole microseconds, which is what PostgreSQL
// keeps, so that what an engine returns and what it reads back later are equal.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
