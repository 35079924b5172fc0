package domain_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func TestTheInstantOfAnErasureIsByTheClockOfTheDatabase(t *testing.T) {
	clock := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	const hour, day = time.Hour, 24 * time.Hour
	for name, c := range map[string]struct {
		at, latest, want time.Time
	}{
		"a clock that is ahead":       {clock.Add(5 * hour), time.Time{}, clock},
		"a clock that is behind":      {clock.Add(-day), clock.Add(-hour), clock},
		"a database that went back":   {clock, clock.Add(2 * hour), clock.Add(2 * hour)},
		"a wrong instant of a mark":   {clock, clock.Add(day + hour), clock},
		"the time of a test":          {clock.Add(-day - hour), clock.Add(hour), clock.Add(-day - hour)},
		"the time of a later test":    {clock.Add(day + hour), clock.Add(hour), clock.Add(day + hour)},
		"nanoseconds, and local time": {clock.Add(hour).In(time.FixedZone("", 3600)), clock.Add(1234), clock.Add(1000)},
	} {
		if got := domain.ErasureInstant(c.at, clock, c.latest); !got.Equal(c.want) || got.Location() != time.UTC {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
