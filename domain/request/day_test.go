package request_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain/request"
)

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	at, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

func TestAMonthEndsOnItsLastDayIfItHasNoSuchDay(t *testing.T) {
	for _, c := range []struct {
		day    request.Day
		months int
		want   request.Day
	}{
		{"2026-03-05", 1, "2026-04-05"},
		{"2026-08-31", 1, "2026-09-30"},
		{"2027-01-31", 1, "2027-02-28"},
		{"2028-01-31", 1, "2028-02-29"},
		{"2028-01-30", 1, "2028-02-29"},
		{"2028-02-29", 12, "2029-02-28"},
		{"2026-11-30", 3, "2027-02-28"},
		{"2026-12-31", 1, "2027-01-31"},
		{"2026-02-28", 1, "2026-03-28"},
	} {
		if got := c.day.AddMonths(c.months); got != c.want {
			t.Errorf("%s and %d months: %s, want %s", c.day, c.months, got, c.want)
		}
	}
}

func TestADayEndsWhenNoClockOfTheZoneShowsItAgain(t *testing.T) {
	for _, c := range []struct {
		zone string
		day  request.Day
		want string
	}{
		{"UTC", "2026-12-31", "2027-01-01T00:00:00Z"},
		{"Europe/Berlin", "2026-06-30", "2026-06-30T22:00:00Z"},
		{"Pacific/Kiritimati", "2026-06-30", "2026-06-30T10:00:00Z"},
		{"Pacific/Pago_Pago", "2026-06-30", "2026-07-01T11:00:00Z"},
		{"Asia/Kathmandu", "2026-06-30", "2026-06-30T18:15:00Z"},
		{"Atlantic/Azores", "2026-03-28", "2026-03-29T01:00:00Z"},   // the clocks go from 0:00 to 1:00
		{"America/Havana", "2026-03-07", "2026-03-08T05:00:00Z"},    // likewise
		{"America/Havana", "2026-10-31", "2026-11-01T04:00:00Z"},    // 1:00 becomes 0:00 of the same day
		{"America/Asuncion", "2023-03-25", "2023-03-26T04:00:00Z"},  // 0:00 becomes 23:00
		{"America/Sao_Paulo", "2018-11-03", "2018-11-04T03:00:00Z"}, // no midnight
		{"America/St_Johns", "2010-11-06", "2010-11-07T03:30:00Z"},  // 0:01 becomes 23:01: the day is shown again
		{"Pacific/Apia", "2011-12-29", "2011-12-30T10:00:00Z"},      // the next day is left out
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},      // it never was
	} {
		if got := c.day.End(zone(t, c.zone)); !got.Equal(instant(c.want)) {
			t.Errorf("%s in %s ends at %v, want %s", c.day, c.zone, got, c.want)
		}
	}
}

var zones = []string{
	"UTC", "Europe/Berlin", "Atlantic/Azores", "America/Havana", "America/Asuncion", "America/St_Johns", "Asia/Beirut",
	"Pacific/Apia", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Australia/Lord_Howe",
}

func TestTheInstantBeforeTheEndShowsTheDayAndNoLaterOneDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		day := request.Day("1995-01-01").AddDays(rapid.IntRange(0, 16000).Draw(t, "days"))
		end := day.End(at)
		if before := request.DayOf(end.Add(-time.Nanosecond), at); before > day || before < day.AddDays(-1) {
			t.Fatalf("before the end of %s, the clock shows %s", day, before)
		}
		for minutes := 0; minutes < 3*60; minutes++ {
			if later := request.DayOf(end.Add(time.Duration(minutes)*time.Minute), at); later <= day {
				t.Fatalf("%d minutes after the end of %s, the clock shows %s", minutes, day, later)
			}
		}
	})
}
