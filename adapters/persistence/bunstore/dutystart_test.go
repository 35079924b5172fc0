package bunstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// dutyMap returns the data map of people, one cell of whom is kept from the value in the column since on.
func dutyMap(t *testing.T, duty datamap.Annotation) datamap.DataMap {
	t.Helper()
	duty.Category, duty.Strategy = domain.CategoryContact, domain.StrategyRetain
	duty.Reason, duty.Since = "a law", "since"
	m, err := fixture.MustMap(t, datamap.Table{
		Name: "members", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeInteger},
			{Name: "since", Type: datamap.TypeTime},
			{Name: "kept", Type: datamap.TypeText, Personal: &duty},
			fixture.Contact("email", domain.StrategyAnonymize),
		},
	}).WithZone("Europe/Berlin")
	must(t, err)
	return m
}

// startOf is a value of the column since, as SQL, and the end of its duty. The text "" is no end.
type startOf struct{ value, end string }

// runs creates the members with the starts. It fails the test unless the export, the holdings and the erasure show the
// end of each duty, and an erasure and a sweep keep each cell until exactly this end.
func runs(t *testing.T, db *bun.DB, m datamap.DataMap, sqlType string, starts []startOf) {
	t.Helper()
	execute(t, db, "DROP TABLE IF EXISTS members",
		"CREATE TABLE members (id integer PRIMARY KEY, since "+sqlType+", kept text, email text)",
		"DELETE FROM habeas_subject_erasures")
	store := storeOf(t, db, m, bunstore.Options{})
	planned := planOf(t, m)
	for i, start := range starts {
		id, person := i+1, fixture.MustID(t, fmt.Sprint(i+1))
		execute(t, db, fmt.Sprintf("INSERT INTO members VALUES (%d, %s, 'kept', 'zoe')", id, start.value))
		isKept := func() bool {
			var kept string
			must(t, db.NewRaw("SELECT kept FROM members WHERE id = ?", id).Scan(t.Context(), &kept))
			return kept == "kept"
		}
		exported, held := "nothing", []domain.Holding(nil)
		must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
			if held, err = s.Subjects().Holdings(ctx, person); err != nil {
				return err
			}
			return s.Subjects().Export(ctx, person, func(record domain.ExportRecord) error {
				if record.Field != "kept" {
					return nil
				}
				if exported = ""; record.ExpiresAt != nil {
					exported = record.ExpiresAt.Format(time.RFC3339Nano)
				}
				return nil
			})
		}))
		if exported != start.end {
			t.Errorf("%s %s: the export shows the end %q, not %q", sqlType, start.value, exported, start.end)
		}
		if got := latestText(held[0].Kept[0].Until.Latest); got != start.end {
			t.Errorf("%s %s: the holdings show the end %q, not %q", sqlType, start.value, got, start.end)
		}
		end, err := time.Parse(time.RFC3339Nano, start.end)
		if start.end == "" {
			end, err = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), nil
		}
		must(t, err)
		at := func(at time.Time, apply func(context.Context, ports.Session, time.Time) error) {
			must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error { return apply(ctx, s, at) }))
		}
		erases := func(ctx context.Context, s ports.Session, at time.Time) error {
			if _, err := s.Subjects().Lock(ctx, person, at); err != nil {
				return err
			}
			steps := plan.LocalAt(planned, at)
			applied, err := s.Subjects().Apply(ctx, person, steps)
			if got := latestText(applied.Latest[len(steps)-1]["kept"]); at.Before(end) && got != start.end {
				t.Errorf("%s %s: the erasure shows the end %q, not %q", sqlType, start.value, got, start.end)
			}
			return err
		}
		sweeps := func(ctx context.Context, s ports.Session, at time.Time) error {
			_, err := s.Erased().Sweep(ctx, person, plan.SweepAt(planned, at))
			return err
		}
		before := end.Add(-time.Microsecond)
		if at(before, erases); !isKept() {
			t.Errorf("%s %s: an erasure overwrites the cell at %v", sqlType, start.value, before)
		}
		if at(before, sweeps); !isKept() {
			t.Errorf("%s %s: a sweep overwrites the cell at %v", sqlType, start.value, before)
		}
		if start.end == "" {
			continue
		}
		last := map[bool]func(context.Context, ports.Session, time.Time) error{true: erases, false: sweeps}[i%2 == 0]
		if at(end, last); isKept() {
			t.Errorf("%s %s: the cell is kept at %v", sqlType, start.value, end)
		}
	}
}

// latestText returns the text of an end, or "" without one.
func latestText(latest time.Time) string {
	if latest.IsZero() {
		return ""
	}
	return latest.Format(time.RFC3339Nano)
}

func TestAnExportFollowsTheTypesOfColumns(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	databaseIs(t, db, "America/St_Johns")
	execute(t, db, "CREATE TABLE members (id integer PRIMARY KEY, since timestamp, kept text, email text)",
		"INSERT INTO members VALUES (1, '2009-12-31 10:00', 'kept', 'zoe')")
	store := storeOf(t, db, dutyMap(t, datamap.Annotation{Retain: datamap.Period{Years: 1}}), bunstore.Options{})
	for _, change := range []struct{ to, end string }{
		{"email TYPE varchar(60)", "2010-12-31T10:00:00Z"},
		{"since TYPE timestamptz", "2010-12-31T13:30:00Z"},
		{"since TYPE text", "2010-12-31T13:30:00Z"},
		{"since TYPE timestamp USING since::timestamp", "2010-12-31T10:00:00Z"},
		{"id TYPE bigint", "2010-12-31T10:00:00Z"},
	} {
		execute(t, db, "ALTER TABLE members ALTER "+change.to)
		must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			return s.Subjects().Export(ctx, fixture.MustID(t, "1"), func(record domain.ExportRecord) error {
				if record.Field == "kept" && record.ExpiresAt.Format(time.RFC3339Nano) != change.end {
					t.Errorf("after ALTER %s: a duty ends at %v, not at %s", change.to, record.ExpiresAt, change.end)
				}
				return nil
			})
		}))
	}
}

// texts are starts that both databases can hold as texts, with the ends after a year.
var textStarts = []startOf{
	{"'2009-12-31'", "2010-12-31T00:00:00Z"},
	{"'2009-12-31 10:00'", "2010-12-31T10:00:00Z"},
	{"'2009-12-31T10:00:00.5'", "2010-12-31T10:00:00.5Z"},
	{"'2009-12-31 10:00:00+0200'", "2010-12-31T08:00:00Z"},
	{"'2009-12-31 10:00:00-02'", "2010-12-31T12:00:00Z"},
	{"'2009-12-31 10:00:00.123456 +0000 UTC'", "2010-12-31T10:00:00.123456Z"},
	{"'2008-02-29 10:00:00Z'", "2009-03-01T00:00:00Z"},
	{"'1262253600'", "2010-12-31T10:00:00Z"},
	{"'0001-01-01T00:00:00Z'", "0002-01-01T00:00:00Z"},
	{"'1850-01-01T00:00:00Z'", "1851-01-01T00:00:00Z"},
	{"'2009-02-30'", ""},
	{"'2000-13-01'", ""},
	{"'2000-01-01 25:00'", ""},
	{"'2000-01-01 12:00+99'", ""},
	{"'9999-12-31'", ""},
	{"'9999-12-31 23:59:59+02:00'", ""},
	{"'infinity'", ""},
	{"'0000-01-01'", ""},
	{"'soon'", ""},
	{"''", ""},
	{"'17'", ""},
	{"NULL", ""},
	{"'10000-01-01'", ""},
}

func TestADutyEndsAtTheSameInstantForExportErasureAndSweep(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		m := dutyMap(t, datamap.Annotation{Retain: datamap.Period{Years: 1}})
		runs(t, db, m, "text", textStarts)
		if db.Dialect().Name() == dialect.SQLite {
			runs(t, db, m, "datetime", append([]startOf{
				{"1262253600", "2010-12-31T10:00:00Z"},
				{"1262253600000", "2010-12-31T10:00:00Z"},
				{"julianday('2009-12-31 12:00')", "2010-12-31T12:00:00Z"},
				{"0", ""},
				{"x'00'", ""},
			}, textStarts...))
			return
		}
		databaseIs(t, db, "America/St_Johns")
		runs(t, db, m, "varchar(60)", append([]startOf{
			{"'0044-03-15 BC'", "0002-01-01T00:00:00Z"}, {"'-infinity'", "0002-01-01T00:00:00Z"},
		}, textStarts...))
		ofDays := []startOf{
			{"'2009-12-31'", "2010-12-31T00:00:00Z"},
			{"'2008-02-29'", "2009-03-01T00:00:00Z"},
			{"'infinity'", ""},
			{"'9999-12-31'", ""},
			{"'294276-01-01'", ""},
			{"'-infinity'", "0002-01-01T00:00:00Z"},
			{"NULL", ""},
			{"'1850-01-01'", "1851-01-01T00:00:00Z"},
			{"'0044-03-15 BC'", "0002-01-01T00:00:00Z"},
		}
		runs(t, db, m, "date", ofDays)
		runs(t, db, m, "timestamp", append(ofDays, startOf{"'2009-12-31 23:59:59.5'", "2010-12-31T23:59:59.5Z"}))
		runs(t, db, m, "timestamptz", []startOf{
			{"'2009-12-31 23:59:59.5+01'", "2010-12-31T22:59:59.5Z"},
			{"'infinity'", ""},
			{"'9999-12-31 00:00Z'", ""},
			{"'-infinity'", "0002-01-01T00:00:00Z"},
			{"'0044-03-15 BC'", "0002-01-01T00:00:00Z"},
			{"'1850-01-01 00:00Z'", "1851-01-01T00:00:00Z"},
			{"'294276-01-01 00:00Z'", ""},
			{"NULL", ""},
		})
		runs(t, db, m, "bigint", []startOf{{"1262253600", "2010-12-31T10:00:00Z"}, {"0", ""}, {"17", ""}})
		runs(t, db, m, "jsonb", []startOf{{`'"2009-12-31"'`, "2010-12-31T00:00:00Z"}, {"'{}'", ""}, {"'null'", ""}})
	})
}

func TestADutyFromTheEndOfTheYearEndsInTheZoneOfTheDataMap(t *testing.T) {
	t.Parallel()
	years := []startOf{
		{"'2016-01-02'", "2026-12-31T23:00:00Z"},
		{"'2015-12-31'", "2025-12-31T23:00:00Z"},
		{"'2015-12-31 23:30:00'", "2025-12-31T23:00:00Z"},
		{"'2016-01-01 00:00:00'", "2026-12-31T23:00:00Z"},
	}
	instants := []startOf{
		{"'2015-12-31 22:59:59.999999Z'", "2025-12-31T23:00:00Z"},
		{"'2015-12-31 23:00:00Z'", "2026-12-31T23:00:00Z"},
		{"'2016-01-01 00:30:00+05:00'", "2025-12-31T23:00:00Z"},
		{"'2015-12-31 23:30:00-05'", "2026-12-31T23:00:00Z"},
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		m := dutyMap(t, datamap.Annotation{Retain: datamap.Period{Years: 10}, From: datamap.FromYearEnd})
		runs(t, db, m, "text", append(years, instants...))
		if db.Dialect().Name() == dialect.PG {
			databaseIs(t, db, "Asia/Tokyo")
			runs(t, db, m, "timestamp", years)
			runs(t, db, m, "date", years[:2])
			runs(t, db, m, "timestamptz", instants)
		}
		m = dutyMap(t, datamap.Annotation{Retain: datamap.Period{Months: 6, Days: 1}, From: datamap.FromYearEnd})
		runs(t, db, m, "text", []startOf{{"'2015-05-05'", "2016-07-01T22:00:00Z"}}) // in summer
	})
}
