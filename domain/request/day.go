package request

import (
	"time"
)

// Day is a day of a calendar, such as 2026-03-05, without a time and a zone. An empty Day is not set. Two days are
// compared as texts.
type Day string

// DayOf returns the day of an instant in a zone.
func DayOf(t time.Time, zone *time.Location) Day { return Day(t.In(zone).Format(time.DateOnly)) }

// midnight returns the day's begin in UTC, with which days are counted.
func (d Day) midnight() time.Time {
	t, _ := time.Parse(time.DateOnly, string(d))
	return t
}

// AddDays returns the day some days later.
func (d Day) AddDays(days int) Day { return DayOf(d.midnight().AddDate(0, 0, days), time.UTC) }

// AddMonths returns the same day some months later, or the last day of that month if it has no such day: see
// Art. 3(2)(c) of Regulation (EEC, Euratom) 1182/71.
func (d Day) AddMonths(months int) Day {
	t := d.midnight()
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1)
	return DayOf(first.AddDate(0, 0, min(t.Day(), last.Day())-1), time.UTC)
}

// daysUntil returns the number of days from d to a later day.
func (d Day) daysUntil(later Day) int {
	const day = 24 * time.Hour
	return int(later.midnight().Sub(d.midnight()) / day)
}

// End returns the first instant after the day in a zone. A zone may have no midnight on the next day, or two of them,
// because the clocks change then. After End, no clock in the zone shows the day again.
func (d Day) End(zone *time.Location) time.Time {
	const longest = 48 * time.Hour // past midnight in every zone
	next := d.AddDays(1).midnight()
	for at := next.Add(longest).In(zone); ; {
		begin, _ := at.ZoneBounds()
		_, offset := at.Zone()
		end := later(next.Add(-time.Duration(offset)*time.Second), begin) // midnight by the clock of this period
		if begin.IsZero() || DayOf(end.Add(-time.Nanosecond), zone) <= d {
			return end.UTC()
		}
		at = begin.Add(-time.Nanosecond).In(zone)
	}
}
