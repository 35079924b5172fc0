package datamap_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func TestPeriodsAreParsed(t *testing.T) {
	for text, want := range map[string]datamap.Period{
		"10y":       {Years: 10},
		"6m":        {Months: 6},
		"30d":       {Days: 30},
		"1y6m":      {Years: 1, Months: 6},
		"1y30d":     {Years: 1, Days: 30},
		"6m1d":      {Months: 6, Days: 1},
		"99y11m30d": {Years: 99, Months: 11, Days: 30},
	} {
		got, err := datamap.ParsePeriod(text)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%q is printed as %q", text, got.String())
		}
	}
}

func TestBadPeriodsAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "y", "10", "10 y", " 10y", "10y ", "10Y", "10w", "10yy", "10y10", "-1y", "+1y", "1.5y", "0y", "1y0m",
		"6m1y", "1d6m", "1y2y", "1m2m", "10000y", "99999999999999999999y", "١y", "10é", "P10Y",
	} {
		got, err := datamap.ParsePeriod(text)
		wantCode(t, err, domain.ErrManifest)
		if !got.IsZero() {
			t.Errorf("%q: got %+v along with the error", text, got)
		}
		if text != "" && strings.Contains(err.Error(), text+" ") {
			t.Errorf("%q: the error repeats it: %v", text, err)
		}
	}
}

func TestPeriodsRunByTheCalendar(t *testing.T) {
	for _, c := range []struct{ period, start, end string }{
		{"10y", "2014-12-31", "2024-12-31"},
		{"1y", "2024-02-29", "2025-03-01"}, // never earlier than a full year
		{"1m", "2024-01-15", "2024-02-15"},
		{"1y6m10d", "2023-06-20", "2024-12-30"},
	} {
		period, err := datamap.ParsePeriod(c.period)
		if err != nil {
			t.Fatal(err)
		}
		start, err := time.Parse(time.DateOnly, c.start)
		if err != nil {
			t.Fatal(err)
		}
		if got := period.After(start).Format(time.DateOnly); got != c.end {
			t.Errorf("%s after %s: got %s, want %s", c.period, c.start, got, c.end)
		}
	}
}

func TestPeriodTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 33)
		period := datamap.Period{
			Years: number.Draw(t, "years"), Months: number.Draw(t, "months"), Days: number.Draw(t, "days"),
		}
		if !period.IsZero() {
			parsed, err := datamap.ParsePeriod(period.String())
			if err != nil || parsed != period {
				t.Fatalf("ParsePeriod(%q) = %+v, %v", period.String(), parsed, err)
			}
		}
		encoded, err := json.Marshal(period)
		if err != nil {
			t.Fatal(err)
		}
		decoded := datamap.Period{Years: 1}
		if err := json.Unmarshal(encoded, &decoded); err != nil || decoded != period {
			t.Fatalf("%s is read as %+v, %v", encoded, decoded, err)
		}
	})
}

func TestAPeriodThatCannotBeDecodedLeavesTheTargetAlone(t *testing.T) {
	period := datamap.Period{Days: 1}
	wantCode(t, period.UnmarshalText([]byte("never")), domain.ErrManifest)
	if period != (datamap.Period{Days: 1}) {
		t.Errorf("the target became %+v", period)
	}
}

func TestTheVocabularyIsClosed(t *testing.T) {
	for _, category := range []domain.Category{
		"contact", "identity", "financial", "behavioral", "technical", "location", "communication", "special",
	} {
		if !category.Valid() {
			t.Errorf("the category %q is not valid", category)
		}
	}
	for _, strategy := range []domain.Strategy{"delete", "anonymize", "retain"} {
		if !strategy.Valid() {
			t.Errorf("the strategy %q is not valid", strategy)
		}
	}
	for _, basis := range []domain.LegalBasis{
		"consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests",
	} {
		if !basis.Valid() {
			t.Errorf("the basis %q is not valid", basis)
		}
	}
	for _, columnType := range []datamap.ColumnType{
		"text", "smallint", "integer", "bigint", "number", "boolean", "time", "uuid", "json", "array", "bytes",
	} {
		if !columnType.Valid() {
			t.Errorf("the column type %q is not valid", columnType)
		}
	}
	for _, unknown := range []string{"", "Contact", "other", " delete"} {
		if domain.Category(unknown).Valid() || domain.Strategy(unknown).Valid() ||
			domain.LegalBasis(unknown).Valid() || datamap.ColumnType(unknown).Valid() {
			t.Errorf("%q is valid", unknown)
		}
	}
}

func TestNoPeriodThatBeganBeforeTheCutoffGoesOn(t *testing.T) {
	day := func(t *rapid.T, name string) time.Time {
		return time.Unix(0, 0).UTC().AddDate(0, 0, rapid.IntRange(0, 40_000).Draw(t, name))
	}
	rapid.Check(t, func(t *rapid.T) {
		period := datamap.Period{
			Years: rapid.IntRange(0, 30).Draw(t, "years"), Months: rapid.IntRange(0, 24).Draw(t, "months"),
			Days: rapid.IntRange(0, 60).Draw(t, "days"),
		}
		now, start := day(t, "now"), day(t, "start")
		cutoff := period.Cutoff(now)
		if !start.After(cutoff) && period.After(start).After(now) {
			t.Fatalf("now %v: Cutoff of %v includes start %v, but the end is %v", now, period, start, period.After(start))
		}
		if period.After(start).Before(now.AddDate(0, 0, -7)) && start.After(cutoff) {
			t.Fatalf("now %v: Cutoff of %v excludes start %v, but the end was %v", now, period, start, period.After(start))
		}
	})
}

func TestACutoffIsExactWhereNoMonthOverflows(t *testing.T) {
	now := time.Date(2026, 11, 22, 3, 4, 5, 6000, time.UTC)
	if got := (datamap.Period{Years: 10}).Cutoff(now); !got.Equal(now.AddDate(-10, 0, 0)) {
		t.Errorf("got %v", got)
	}
}
