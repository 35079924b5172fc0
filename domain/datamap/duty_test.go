package datamap_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

func TestADutyHasEndedIfItDidNotStartAfterTheLatestStart(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Kiritimati", "Pacific/Pago_Pago"}
	instant := func(t *rapid.T, name string) time.Time { // often near the end of a month or of a year
		day := time.Date(rapid.IntRange(1999, 2033).Draw(t, name+" year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")),
			rapid.IntRange(-3, 3).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), 0, 0, 0, time.UTC)
		return day.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "micros")) * time.Microsecond)
	}
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		duty := datamap.Duty{Zone: zone, YearEnd: rapid.Bool().Draw(t, "year end"), Period: datamap.Period{
			Years: rapid.IntRange(0, 3).Draw(t, "years"), Months: rapid.IntRange(0, 14).Draw(t, "months"),
			Days: rapid.IntRange(0, 60).Draw(t, "days"),
		}}
		start := datamap.Start{At: instant(t, "start"), Local: rapid.Bool().Draw(t, "local")}
		end, _ := duty.End(start)
		at := end.Add(time.Duration(rapid.IntRange(-50, 50).Draw(t, "hours later")) * time.Hour)
		if rapid.Bool().Draw(t, "unrelated") {
			at = instant(t, "now")
		}
		latest, local := duty.LatestStart(at)
		if start.Local {
			latest = local
		}
		if got, want := !start.At.After(latest), duty.Ended(start, at); got != want {
			t.Fatalf("%+v: the end of %v is %v: ended by %v is %v, not %v: %v", duty, start, end, at, got, want, latest)
		}
	})
}

func TestAPeriodEndsWithAMonthThatIsTooShort(t *testing.T) {
	for _, c := range []struct{ start, period, end string }{
		{"2023-01-31T12:00:00", "1m", "2023-03-01"},
		{"2024-01-31T12:00:00", "1m", "2024-03-01"},
		{"2024-01-29T12:00:00", "1m", "2024-02-29"},
		{"2024-02-29T12:00:00", "1y", "2025-03-01"},
		{"2024-02-29", "4y", "2028-02-29"},
		{"2023-12-31", "2m", "2024-03-01"},
		{"2023-12-31", "1y6m", "2025-07-01"},
		{"2023-12-30", "1y6m", "2025-06-30"},
		{"2023-12-31", "2m1d", "2024-03-02"},
		{"2023-12-31", "1d", "2024-01-01"},
		{"2023-11-30", "1m", "2023-12-30"},
		{"2024-01-01", "99999d", ""},
	} {
		period, err := datamap.ParsePeriod(c.period)
		if c.end == "" {
			wantCode(t, err, domain.ErrManifest)
			continue
		}
		start, _ := plan.ReadStart(c.start)
		if got := period.After(start.At).Format(time.DateOnly); err != nil || got != c.end {
			t.Errorf("%s from %s ends on %s, not on %s: %v", c.period, c.start, got, c.end, err)
		}
	}
}

func TestADutyFromTheEndOfAYearBelongsToTheYearOfItsZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ start, period, end string }{
		{"2016-01-02", "10y", "2026-12-31T23:00:00Z"},
		{"2015-12-31", "10y", "2025-12-31T23:00:00Z"},
		{"2015-12-31T23:30:00", "10y", "2025-12-31T23:00:00Z"},
		{"2015-12-31T23:30:00Z", "10y", "2026-12-31T23:00:00Z"}, // 2016 in Berlin
		{"2015-12-31T22:59:59Z", "10y", "2025-12-31T23:00:00Z"},
		{"2016-01-01T00:30:00+05:00", "6m", "2016-06-30T22:00:00Z"}, // 2015 in Berlin, and an end in summer
		{"2015-05-05", "1m", "2016-01-31T23:00:00Z"},
		{"2015-05-05", "1d", "2016-01-01T23:00:00Z"},
	} {
		period, _ := datamap.ParsePeriod(c.period)
		start, ok := plan.ReadStart(c.start)
		end, ends := datamap.Duty{Period: period, YearEnd: true, Zone: berlin}.End(start)
		if got := end.Format(time.RFC3339); !ok || !ends || got != c.end {
			t.Errorf("%s from the end of the year of %s ends at %s, not at %s", c.period, c.start, got, c.end)
		}
	}
}

func TestADutyThatEndsAfterTheYear9999HasNoEnd(t *testing.T) {
	duty := datamap.Duty{Period: datamap.Period{Years: 10}, Zone: time.UTC}
	for since, want := range map[string]bool{
		"9989-12-31": true, "9990-01-01": false, "9999-12-31": false, "0001-01-01": true, "0002-01-01": true,
	} {
		start, ok := plan.ReadStart(since)
		if _, ends := duty.End(start); (ok && ends) != want {
			t.Errorf("%s: ends is %v", since, ok && ends)
		}
	}
	if start, ok := plan.ReadStart(time.Time{}); !ok || !start.At.IsZero() {
		t.Errorf("the zero time is read as %v, %v", start, ok)
	}
}

func TestAPeriodIsAtMostAHundredYears(t *testing.T) {
	for text, want := range map[string]bool{
		"100y": true, "1200m": true, "36525d": true, "99y12m": true, "99y11m30d": true,
		"101y": false, "1201m": false, "36526d": false, "100y1d": false, "2026y": false, "99999999999999999999d": false,
	} {
		_, err := datamap.ParsePeriod(text)
		if (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil && !strings.Contains(err.Error(), "leave `retain` out for a duty without end") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAZoneMustBeKnown(t *testing.T) {
	m := keyedBy(t, datamap.Column{Name: "id", Type: datamap.TypeBigInt})
	for _, name := range []string{"", "Local", "Mars/Olympus"} {
		if _, err := m.WithZone(name); !errors.Is(err, domain.ErrManifest) {
			t.Errorf("%q: %v", name, err)
		}
	}
	named, err := m.WithZone("Europe/Berlin")
	if err != nil || named.Zone() != "Europe/Berlin" || m.Zone() != "" {
		t.Errorf("the zone is %q and %q: %v", named.Zone(), m.Zone(), err)
	}
}
