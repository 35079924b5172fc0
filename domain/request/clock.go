package request

import (
	"slices"
	"time"
)

// Law is the time that a law gives for an answer, counted from the receipt of a request.
type Law struct {
	Months, Days                   int
	ExtensionMonths, ExtensionDays int // what an extension adds
}

// GDPR is the time of Art. 12(3) GDPR: one month, and two more months with an extension.
var GDPR = Law{Months: 1, ExtensionMonths: 2}

// Rules are the settings by which the dates of a request are computed. Each event computes them with the settings of
// that time.
type Rules struct {
	// Zone is the zone of the controller, whose days count. It is required.
	Zone *time.Location
	// Law is the time for an answer. The default is GDPR.
	Law Law
	// IsHoliday reports whether a day is a holiday. If it is set, Saturdays, Sundays and holidays are no working days, and
	// a time that would end on one of them ends on the next working day (Art. 3(4) of Regulation 1182/71). Without it,
	// each day is a working day.
	IsHoliday func(Day) bool
}

const (
	// lapseDays is how long a question waits for an answer, from the day after its delivery.
	lapseDays = 28
	// release is how long a subject can withdraw an erasure after the last hold was lifted.
	release = 24 * time.Hour
	// mostHolidays bounds the search for a working day.
	mostHolidays = 31
)

// Receive returns a request with the state Received and with its dates. The request has its number, kind, channel and
// ReceivedAt. ReceivedAt may lie before EnteredAt, and is not later: the clock starts at the receipt.
func (s Rules) Receive(r Request) (Request, error) {
	switch {
	case !slices.Contains(Kinds(), r.Kind):
		return r, invalid("kind", "must be one of "+joined(Kinds()))
	case r.ReceivedAt.IsZero() || r.EnteredAt.IsZero():
		return r, invalid("received_at", "is missing")
	case r.ReceivedAt.After(r.EnteredAt):
		return r, invalid("received_at", "must not be later than now")
	}
	r.State, r.Version = Received, 1
	return s.date(r), nil
}

// Apply returns the request after an event, with its dates, and Version increased. It returns the request as it is if
// the event changes nothing, and the errors of Transition. It returns domain.ErrInvalid if the event lacks a member,
// and domain.ErrConflict for a second question with the same reason, a second extension, and an extension after the
// first month.
func (s Rules) Apply(r Request, e Event) (Request, error) {
	if err := r.check(e); err != nil {
		return r, err
	}
	to, err := Transition(r, e)
	if err != nil {
		return r, err
	}
	changes := slices.Contains([]EventName{Delivered, Undelivered, Extend}, e.Name)
	if r.isAfter(e) || to == r.State && !changes {
		return r, nil
	}
	switch e.Name { //nolint:exhaustive // the other events change the state only
	case Ask:
		if slices.Contains(r.Asked, e.Reason) {
			return r, conflict(r.State)
		}
		r.Asked = append(slices.Clone(r.Asked), e.Reason)
		if s.day(e.At) <= r.DueOn { // a later question stops nothing
			r.SuspendedAt = e.At
		}
	case Delivered:
		r.LapsesAt = s.day(e.At).AddDays(lapseDays).End(s.Zone)
	case Undelivered:
		r.SuspendedAt, r.LapsesAt = time.Time{}, time.Time{}
	case Lapse:
		if r.LapsesAt.IsZero() || e.At.Before(r.LapsesAt) {
			return r, conflict(r.State)
		}
	case Due:
		if e.At.Before(r.ExecuteAfter) {
			return r, conflict(r.State)
		}
	case Extend:
		if !r.ExtendedAt.IsZero() || s.day(e.At) > r.StrictDueOn {
			return r, conflict(r.State)
		}
		r.ExtendedAt, r.ExtensionReason = e.At, e.Extension
	case Refuse:
		r.RefusalGround = e.Ground
	case DoneByHand:
		r.DoneByHand = e.Hand
	}
	return s.enter(r, to, e), nil
}

// enter returns the request in another state, or in the same one, with the dates that follow from it.
func (s Rules) enter(r Request, to State, e Event) Request {
	if r.State == Awaiting && to != Awaiting {
		r = s.resume(r, e.At)
	}
	if to != r.State {
		r.StateReason = ""
	}
	switch {
	case to == Awaiting && e.Name == Ask:
		r.StateReason = string(e.Reason)
	case to == Lapsed:
		r.StateReason, r.RefusalGround = string(Identity), NotIdentifiable
	case to == Withdrawn && e.Name != Withdraw:
		r.StateReason = string(e.Name)
	}
	r.Partly = r.Partly || e.Partly
	r.State = to
	r = s.date(r)
	switch {
	case to == Scheduled && e.Name == HoldLifted:
		r.ExecuteAfter = later(r.ExecuteAfter, e.At.Add(release))
	case to == Scheduled && r.ExecuteAfter.IsZero(), to == OnHold && r.ExecuteAfter.IsZero():
		r.ExecuteAfter = s.within(r, later(e.After, e.At), e.At)
	case to.IsClosed():
		r.ClosedAt = e.At
	}
	if e.Operator != "" && to != Awaiting {
		r.DecidedBy = e.Operator
	}
	r.Version++
	return r
}

// resume ends a suspension. The days from the question, which does not count, to the answer, which does, are added.
func (s Rules) resume(r Request, at time.Time) Request {
	if !r.SuspendedAt.IsZero() {
		r.SuspendedDays += max(0, s.day(r.SuspendedAt).daysUntil(s.day(at)))
	}
	r.SuspendedAt, r.LapsesAt = time.Time{}, time.Time{}
	return r
}

// within returns the time at which a scheduled erasure runs: not after the day on which its answer is due, and not
// before now.
func (s Rules) within(r Request, after, now time.Time) time.Time {
	if !r.DueAt.IsZero() && !after.Before(r.DueAt) {
		after = r.DueAt.Add(-time.Microsecond)
	}
	return later(after, now)
}

// date computes the dates of the answer, in this order: the months, the days of suspensions, and a working day.
func (s Rules) date(r Request) Request {
	r.DueOn = s.due(r, r.SuspendedDays, !r.ExtendedAt.IsZero())
	r.StrictDueOn = s.due(r, 0, !r.ExtendedAt.IsZero())
	r.DueAt = time.Time{}
	if r.SuspendedAt.IsZero() {
		r.DueAt = r.DueOn.End(s.Zone)
	}
	return r
}

func (s Rules) due(r Request, suspended int, extended bool) Day {
	law := s.Law
	if law == (Law{}) {
		law = GDPR
	}
	months, days := law.Months, law.Days
	if extended {
		months, days = months+law.ExtensionMonths, days+law.ExtensionDays
	}
	return s.workingDay(s.day(r.ReceivedAt).AddMonths(months).AddDays(days + suspended))
}

// RefusableUntil returns the last day on which a refusal is in time: the end of the first month, extended or not
// (Art. 12(4) GDPR).
func (s Rules) RefusableUntil(r Request) Day { return s.due(r, r.SuspendedDays, false) }

// workingDay returns the day itself, or the next working day.
func (s Rules) workingDay(d Day) Day {
	if s.IsHoliday == nil {
		return d
	}
	for range mostHolidays {
		weekday := d.midnight().Weekday()
		if weekday != time.Saturday && weekday != time.Sunday && !s.IsHoliday(d) {
			break
		}
		d = d.AddDays(1)
	}
	return d
}

func (s Rules) day(t time.Time) Day { return DayOf(t, s.Zone) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
