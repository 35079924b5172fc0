package datamap

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// FromYearEnd is the value of Annotation.From for a duty whose period counts from the end of the calendar year of its
// start, as § 147(4) AO and § 132 BAO require.
const FromYearEnd = "year_end"

// Start is the start of a retention duty (the legal duty to keep a value), as Annotation.Since holds it.
type Start struct {
	At    time.Time // in UTC, in whole microseconds
	Local bool      // the value has no zone; At then has its date and its time of day
}

// Duty says how long a retention duty lasts.
type Duty struct {
	Period  Period
	YearEnd bool           // the period counts from the end of the calendar year of the start
	Zone    *time.Location // of the calendar year of an instant
}

// Duty returns the duty of a column with Annotation.Since.
func (m DataMap) Duty(of Annotation) Duty {
	return Duty{of.Retain, of.From == FromYearEnd, m.location()}
}

// Ended reports whether a duty that began at start has ended at the given instant. A duty without an end has not.
func (d Duty) Ended(start Start, at time.Time) bool {
	end, ends := d.End(start)
	return ends && !end.After(at)
}

// End returns the end of a duty that began at start, in UTC. It returns false if the end is after the year 9999, which
// programs write for a time that never comes: the duty then has no end.
func (d Duty) End(start Start) (end time.Time, ends bool) {
	end = start.At
	if d.YearEnd {
		year := end.Year()
		if !start.Local {
			year = end.In(d.Zone).Year()
		}
		end = d.newYear(year + 1)
	}
	end = d.Period.After(end).UTC()
	return end, end.Year() <= maxYear
}

const maxYear = 9999

func (d Duty) newYear(year int) time.Time {
	return time.Date(year, time.January, 1, 0, 0, 0, 0, d.Zone)
}

// LatestStart returns the latest start of a duty that has ended at the given instant, for a start that is an instant,
// and for a start without a zone. All duties that began then or earlier have ended, and no other ones.
func (d Duty) LatestStart(at time.Time) (instant, local time.Time) {
	at = domain.Instant(at)
	if !d.YearEnd {
		latest := d.Period.Cutoff(at)
		return latest, latest
	}
	year := at.In(d.Zone).Year()
	for d.Period.After(d.newYear(year)).After(at) {
		year--
	}
	local = time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	return d.newYear(year).UTC().Add(-time.Microsecond), local.Add(-time.Microsecond)
}

// WithZone returns the data map with the zone of its calendar years, see Annotation.From. The name is that of the IANA
// time zone database, such as Europe/Berlin. WithZone returns domain.ErrManifest if the name is unknown.
func (m DataMap) WithZone(name string) (DataMap, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == time.Local.String() {
		return m, &domain.Error{
			Code: domain.ErrManifest, Op: "zone", Message: "the zone of the data map is not a known zone such as Europe/Berlin" +
				" (a program without a zone database imports time/tzdata)", Err: err,
		}
	}
	m.zone = zone
	return m, nil
}

// Zone returns the name of the zone of WithZone, or "" for UTC.
func (m DataMap) Zone() string {
	if m.zone == nil {
		return ""
	}
	return m.zone.String()
}

func (m DataMap) location() *time.Location {
	if m.zone == nil {
		return time.UTC
	}
	return m.zone
}
