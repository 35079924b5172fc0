package plan_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

func TestATableSaysWhenARowWasAdded(t *testing.T) {
	of := func(names ...string) (table datamap.Table) {
		for _, name := range names {
			table.Columns = append(table.Columns, fixture.Column(name, datamap.TypeTime))
		}
		return table
	}
	and := func(table datamap.Table, name string, kind datamap.ColumnType) datamap.Table {
		table.Columns = append(table.Columns, fixture.Column(name, kind))
		return table
	}
	for want, table := range map[string]datamap.Table{
		"created_at":    of("updated_at", "issued_at", "created_at"),
		"createdAt":     of("registered_at", "createdAt"),
		"CREATED":       of("CREATED"),
		"registered_at": and(of("registered_at"), "created_at", datamap.TypeText),
		"inserted_at":   {Columns: []datamap.Column{{Name: "inserted_at"}}},
		"Created_At":    and(of("updated_at"), "Created_At", datamap.TypeText),
		"created_on":    and(and(of(), "created", datamap.TypeText), "created_on", datamap.TypeInteger),
		"createdat":     and(of(), "createdat", datamap.TypeBigInt),
		"created":       and(of(), "created", datamap.TypeNumber),
		"":              of("updated_at", "issued_at", "created_by"),
	} {
		if column, ok := plan.AddedAt(table); column.Name != want || ok != (want != "") {
			t.Errorf("got %q, want %q", column.Name, want)
		}
	}
	for _, kind := range []datamap.ColumnType{
		datamap.TypeBoolean, datamap.TypeSmallInt, datamap.TypeUUID, datamap.TypeJSON, datamap.TypeArray, datamap.TypeBytes,
	} {
		if column, ok := plan.AddedAt(and(of(), "created", kind)); ok {
			t.Errorf("got %q of the type %s", column.Name, kind)
		}
	}
}

func TestACreationTimeIsReadInEveryFormOfAStore(t *testing.T) {
	micros := time.Date(2024, 3, 1, 12, 30, 15, 123_456_000, time.UTC)
	seconds, minutes := micros.Truncate(time.Second), micros.Truncate(time.Minute)
	millis, day := micros.Truncate(time.Millisecond), micros.Truncate(24*time.Hour)
	for want, values := range map[time.Time][]any{
		micros: {
			micros, micros.Add(789).In(time.FixedZone("", -3600)),
			"2024-03-01T12:30:15.123456Z", "2024-03-01 12:30:15.123456", "2024-03-01T12:30:15.123456789 Z",
			"2024-03-01 14:00:15.123456+01:30", "2024-03-01 02:30:15.1234567-10", "2024-03-02 02:30:15.1234569+1400",
			"2024-03-01 13:30:15.123456789 +0100 CET m=+0.000123456", "2024-03-01 12:30:15.123456 +0000 UTC",
			"2024-03-01 12:30:15.123456   ", "2024-02-29 22:00:15.123456-14:30",
			int64(1709296215123456), int64(1709296215123456999), "1709296215123456", "1709296215123456789",
			1709296215.123456, domain.Number("1709296215.123456"), "1709296215123.456", 1709296215123456.25,
		},
		millis: {
			"2024-03-01 12:30:15.123", int64(1709296215123), float64(1709296215123), "1709296215.123",
		},
		seconds: {
			"2024-03-01 12:30:15", "2024-03-01T12:30:15Z", int64(1709296215), "1709296215",
		},
		minutes:                                  {"2024-03-01T12:30", "2024-03-01 14:30+02:00", "2024-03-01 12:30Z"},
		day:                                      {"2024-03-01", "2024-03-01 00:00", 2460370.5, "2460370.5"},
		day.Add(12 * time.Hour):                  {int64(2460371), 2460371.0},
		time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC): {"0002-01-01"},
		time.Date(2000, 2, 29, 0, 0, 0, 0, time.UTC):  {"2000-02-29"},
		time.Date(9998, 12, 31, 0, 0, 0, 0, time.UTC): {"9998-12-31"},
		time.Date(1973, 3, 3, 9, 46, 40, 0, time.UTC): {int64(1e8), int64(1e11), int64(1e14), int64(1e17)},
		time.Date(2112, 8, 7, 7, 59, 59, 0, time.UTC): {int64(45e8 - 1), int64(45e11 - 1e3), int64(45e17 - 1e9)},
	} {
		for _, value := range values {
			if got, ok := plan.ReadAddedAt(value); !ok || got != want {
				t.Errorf("%#v: got %v, %v, want %v", value, got, ok, want)
			}
		}
	}
}

func TestAnyOtherCreationTimeIsUnreadable(t *testing.T) {
	for _, value := range []any{
		nil, true, []byte("2024-03-01"), domain.JSON(`"2024-03-01"`),
		time.Time{},
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		"", " ", "now", "anon-0123456789abcdef0123456789abcdef", "infinity", "-infinity", "NULL", " 2024-03-01",
		"0000-01-01", "0001-01-01 00:00:00+00:00", "9999-12-31 23:59:59", "12024-03-01", "2024-03-01 BC", "24-03-01",
		"2024-13-01", "2024-00-01", "2024-02-30", "2023-02-29", "1900-02-29", "2024-04-31", "2024-03-00", "2024-03-32",
		"2024-3-1", "20240301", "20240301T123015Z", "01.03.2024", "2024-03-01x", "2024-03-01Z",
		"2024-03-01t12:30", "2024-03-01  12:30", "2024-03-01 12", "2024-03-01 24:00", "2024-03-01 12:60",
		"2024-03-01 12:30:60", "2024-03-01 12:30:1", "2024-03-01 12:30.5", "2024-03-01 12:30:15.", "2024-03-01 12:30:15,5",
		"2024-03-01 12:30z", "2024-03-01 12:30 UTC", "2024-03-01 12:30+15:00", "2024-03-01 12:30+02:60",
		"2024-03-01 12:30+2", "2024-03-01 12:30+020", "2024-03-01 12:30+02:", "2024-03-01 12:30  Z", "2024-03-01 12:30+02 x",
		"2024-03-01 12:30+02:00 x", "2024-03-01 12:30Z x", "2024-03-01 12:30 +02:00:00",
		int64(0), int64(1), int64(-1709296215), int64(99_999_999), int64(45e8), int64(1e11 - 1), int64(45e11), int64(45e14),
		int64(45e17), int64(1999999), int64(3e6), int64(2440588), int64(20240301), int64(20240301123015), 0.5, 1e300,
		"1e9", "0x65E1C9D7", "01709296215", "1709296215.", "1709296215.1.2", "1709296215,1", "+1709296215", ".5",
		"99999999999999999999", "1709296215 0",
	} {
		if got, ok := plan.ReadAddedAt(value); ok {
			t.Errorf("%#v: got %v", value, got)
		}
	}
}

func TestATimeWithoutAZoneIsAtTheEarliestInTheFirstZone(t *testing.T) {
	utc := time.Date(2024, 3, 1, 12, 30, 0, 0, time.UTC)
	for value, want := range map[any]time.Time{
		"2024-03-01 12:30":       utc.Add(-14 * time.Hour),
		"2024-03-01":             time.Date(2024, 2, 29, 10, 0, 0, 0, time.UTC),
		"2024-03-01 12:30Z":      utc,
		"2024-03-01 12:30-02:00": utc.Add(2 * time.Hour),
		utc.Unix():               utc,
		utc:                      utc,
	} {
		if got, ok := plan.EarliestAddedAt(value); !ok || !got.Equal(want) {
			t.Errorf("%v: got %v, want %v", value, got, want)
		}
	}
	if at, ok := plan.EarliestAddedAt("soon"); ok {
		t.Errorf("a word is the instant %v", at)
	}
}
