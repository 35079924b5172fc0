package datamap

import (
	"errors"
	"regexp"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Annotation declares that a column holds personal data, and how an export and an erasure treat that data.
type Annotation struct {
	Category domain.Category   `json:"category"`
	Strategy domain.Strategy   `json:"erasure,omitempty"` // empty means StrategyErase
	Basis    domain.LegalBasis `json:"basis,omitempty"`   // optional
	Purpose  string            `json:"purpose,omitempty"` // optional
	Reason   string            `json:"reason,omitempty"`  // the legal duty to keep it; only for StrategyRetain, required
	Retain   Period            `json:"retain,omitzero"`   // the length of the duty; only for StrategyRetain
	Since    string            `json:"since,omitempty"`   // the column of the same table with the start of the duty
	// From says from when Retain counts: empty from the value in Since, or FromYearEnd from the end of the calendar year
	// of this value, in the zone of the data map (see DataMap.WithZone).
	From   string `json:"from,omitempty"`
	Export Export `json:"export,omitempty"` // empty means ExportYes, but see Export
	// Via is the name of the path that leads to the person that the value belongs to. The name of the first relation of
	// the path is sufficient. Via is required in a table with several paths, and refused in other tables.
	//
	// If a value belongs to several people, Via lists several names, separated by commas. The export for each of these
	// people contains the value. The erasure of any of these people erases the value.
	Via string `json:"via,omitempty"`
	// Ref is the name of the resolver to which the keys in the column belong. The resolver must implement
	// ports.KeyResolver. Each key names an object in the external system, such as a file, and belongs to one subject only.
	// An export passes the keys to the resolver. An erasure also passes the keys to the resolver, before it deletes the
	// rows.
	Ref string `json:"ref,omitempty"`
}

// Period is a length of time in calendar units, such as the ten years of a retention duty (the legal duty to keep a
// value).
type Period struct{ Years, Months, Days int }

var periodText = regexp.MustCompile(`^(?:([0-9]+)y)?(?:([0-9]+)m)?(?:([0-9]+)d)?$`)

// ParsePeriod reads numbers followed by y, m or d, such as "10y", "6m", "1y6m" or "30d". Each unit occurs at most once,
// in that order. A number is 1 to 99999, and a period is at most 100 years. ParsePeriod returns domain.ErrManifest for
// any other text.
func ParsePeriod(text string) (Period, error) {
	parts := periodText.FindStringSubmatch(text)
	valid := len(parts) > 0 && text != ""
	var numbers [3]int
	for i := range numbers {
		if valid && parts[i+1] != "" {
			n, err := strconv.Atoi(parts[i+1])
			numbers[i], valid = min(n, maxNumber), n != 0 && (err == nil || errors.Is(err, strconv.ErrRange))
		}
	}
	period := Period{Years: numbers[0], Months: numbers[1], Days: numbers[2]}
	message := ""
	switch {
	case !valid:
		message = `is not like "10y", "6m", "30d" or "1y6m"`
	case period.isTooLong():
		message = "is longer than 100 years: leave `retain` out for a duty without end"
	default:
		return period, nil
	}
	return Period{}, &domain.Error{Code: domain.ErrManifest, Op: "period", Message: message}
}

const (
	maxNumber = 99999
	maxYears  = 100
)

func (p Period) isTooLong() bool {
	start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	return p.Years > maxYears || p.After(start).After(Period{Years: maxYears}.After(start))
}

// IsZero reports whether the period is empty. A retention duty with an empty period never ends.
func (p Period) IsZero() bool { return p == Period{} }

// After returns the end of a period that begins at start: the same day and time of day some years and months later, and
// then some days later. If the month has no such day, the month ends the period, at the midnight after its last day (as
// Art. 3(2)(c) of Regulation 1182/71 and § 188(3) BGB say). A month from 31 January ends when February ends.
func (p Period) After(start time.Time) time.Time {
	end, _ := addMonths(start, 12*p.Years+p.Months)
	return end.AddDate(0, 0, p.Days)
}

// Cutoff returns the latest start of a period that has ended by now. A period that began at the cutoff or earlier has
// ended. For example, if now is 1 March 2026, the cutoff of a period of 10 years is 1 March 2016.
func (p Period) Cutoff(now time.Time) time.Time {
	cutoff, exists := addMonths(now.AddDate(0, 0, -p.Days), -12*p.Years-p.Months)
	if !exists {
		return cutoff.Add(-time.Microsecond) // all starts in the month have ended
	}
	return cutoff
}

// addMonths returns the same day and time of day in another month. If this month has no such day, it returns the end of
// the month, and false.
func addMonths(t time.Time, months int) (at time.Time, exists bool) {
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, 0, 0, 0, 0, t.Location())
	next := first.AddDate(0, 1, 0)
	if t.Day() > next.AddDate(0, 0, -1).Day() {
		return next, false
	}
	return t.AddDate(0, months, 0), true
}

// String returns the text of the period, such as "10y". ParsePeriod reads this text.
func (p Period) String() string {
	var b []byte
	for _, part := range []struct {
		n    int
		unit byte
	}{{p.Years, 'y'}, {p.Months, 'm'}, {p.Days, 'd'}} {
		if part.n > 0 {
			b = append(strconv.AppendInt(b, int64(part.n), 10), part.unit)
		}
	}
	return string(b)
}

// MarshalText returns the text of the period, as String does.
func (p Period) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses a text as ParsePeriod does. An empty text is the zero period.
func (p *Period) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = Period{}
		return nil
	}
	parsed, err := ParsePeriod(string(text))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}
