package domain

import (
	"time"
)

// Instant returns t in UTC, truncated to microseconds, which is the precision of PostgreSQL. This module stores and
// returns every instant in this form. Therefore, an instant that a service returns equals the instant that the service
// later reads from the database.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
