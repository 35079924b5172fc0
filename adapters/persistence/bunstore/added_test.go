package bunstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// newMembers creates the table members with the column created_at of the given type, and a store for it.
func newMembers(t *testing.T, db *bun.DB, sqlType string) *application {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	execute(t, db, "DROP TABLE IF EXISTS members", "CREATE TABLE members (id integer PRIMARY KEY, created_at "+sqlType+")")
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "members", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeInteger}, {Name: "created_at"}},
	})
	store := storeOf(t, db, dataMap, bunstore.Options{})
	return &application{db: db, store: store}
}

// addedAt erases the members 1 to n and returns the creation times in their marks. The zero time means none.
func (a *application) addedAt(t *testing.T, n int) (times []time.Time) {
	t.Helper()
	execute(t, a.db, "DELETE FROM habeas_subject_erasures")
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		for i := range n {
			if _, err := s.Subjects().Lock(ctx, subjectID(t, strconv.Itoa(i+1)), noon); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		marks, err := s.Erased().Marks(ctx, domain.MarkQuery{Limit: n})
		for _, mark := range marks {
			times = append(times, mark.AddedAt)
		}
		return err
	}))
	return times
}

// addedTexts are texts of times in many forms, and texts that are similar to times.
func addedTexts() []string {
	texts := []string{
		"", "now", "today", "infinity", "-infinity", "epoch", "allballs", "NULL", "anon-0123456789abcdef0123456789abcdef",
		"2024-03-01 12:30:15.123456789 +0100 CET m=+0.000123456", "2024-03-01 12:30:15 +0530 +0530", "2024-03-01   ",
		"2024-03-01 12:30:15.5 +0000 UTC", "2024-03-01 12:30+02:00 x", "2024-03-01 12:30Z x", "2024-03-01 12:30 -0200 ",
		"2024-03-01 12:30 Europe/Berlin", "Fri, 01 Mar 2024 12:30:15 GMT", "01.03.2024", "03/01/2024", "20240301T123015Z",
		"2024-03-01T12:30:15.123456\u00a0", "\t2024-03-01", "2024-03-01\n", "2024-060", "2024-W09-5", "44-03-15 BC",
	}
	for _, day := range []string{
		"2024-03-01", "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2024-02-30", "2024-04-31", "2024-13-01",
		"2024-00-10", "2024-03-00", "2024-03-32", "0000-01-01", "0001-01-01", "0002-01-01", "9998-12-31", "9999-12-31",
		"1969-12-31", "10000-01-01", "2024-3-1", "2024/03/01", " 2024-03-01",
	} {
		texts = append(texts, day, day+" 00:00", day+"T23:59:59.999999Z", day+" 12:00:00+14:59")
	}
	for _, clock := range []string{
		" 12:30", "T12:30", "t12:30", " 12:30:15", "T12:30:15.1", "T12:30:15.123456", "T12:30:15.1234567", "  12:30", " 12",
		"T12:30:15.", "T12:30.5", "T24:00", "T23:59:60", "T12:60", "T12:30:15,123", " 1:30", "12:30", "T12:30:15.000000001",
	} {
		for _, zone := range []string{
			"", "Z", " Z", "z", "+02", "-02:30", "+0230", " +05:45", "-14:59", "+15", "+02:60", "+2", "+020", "  Z", "UTC",
			" UTC", "+02:00:00", "+", "-00:00", " -1200 x", " +12:00 x",
		} {
			texts = append(texts, "2024-02-29"+clock+zone)
		}
	}
	return append(texts, addedDigits()...)
}

// addedDigits are texts of numbers, around all bounds of plan.ReadAddedAt, and some with a fraction.
func addedDigits() (texts []string) {
	for _, bound := range []int64{
		0, 1, 1e6, 2e6, 2441745, 2460371, 2492671, 2492672, 3e6, 20240301, 1e8, 1709296215, 45e8, 1e10, 1e11, 1709296215123,
		45e11, 1e13, 20240301123015, 1e14, 1709296215123456, 45e14, 1e16, 1e17, 1709296215123456789, 45e17, 9e18,
	} {
		for _, n := range []int64{bound - 1, bound, bound + 1} {
			texts = append(texts, fmt.Sprint(n))
		}
		for _, fraction := range []string{".5", ".25", ".123456", ".0", "."} {
			texts = append(texts, fmt.Sprint(bound)+fraction)
		}
	}
	return append(texts, "-1709296215", "+1709296215", "01709296215", "1.7e9", "1709296215.1.2", "99999999999999999999",
		"1709296215 ", "0x65E1C9D7", "1709296215.1234567")
}

// randomTexts changes a character of random texts, or leaves it out.
func randomTexts(texts []string, n int) (changed []string) {
	random := rand.New(rand.NewPCG(1, 2)) // the same texts in each run
	for len(changed) < n {
		text := texts[random.IntN(len(texts))]
		if text == "" {
			continue
		}
		i := random.IntN(len(text))
		const characters = "0123456789-+:. TZ"
		replaced := characters[random.IntN(len(characters)):][:random.IntN(2)]
		changed = append(changed, strings.ToValidUTF8(text[:i]+replaced+text[i+1:], ""))
	}
	return changed
}

// All stores read the creation time of a row in the same way, and every unreadable value as none.
func TestACreationTimeIsReadAsTheDomainReadsIt(t *testing.T) {
	t.Parallel()
	texts := addedTexts()
	texts = append(texts, randomTexts(texts, 400)...)
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newMembers(t, db, "text")
		for i, text := range texts {
			_, err := db.ExecContext(t.Context(), "INSERT INTO members VALUES (?, ?)", i+1, text)
			must(t, err)
		}
		readable := 0
		for i, got := range a.addedAt(t, len(texts)) {
			want, ok := plan.ReadAddedAt(texts[i])
			if !ok {
				want = time.Time{}
			} else {
				readable++
			}
			if !got.Equal(want) {
				t.Errorf("%q: got %v, want %v", texts[i], got, want)
			}
		}
		if readable < 200 || readable > len(texts)*2/3 {
			t.Errorf("%d of %d texts are readable", readable, len(texts))
		}
	})
}

// columnOfTimes is a column type with values, as SQL, and the creation times that a mark must hold for them.
type columnOfTimes struct {
	sqlType string
	values  []string
	want    []time.Time
}

func (c columnOfTimes) isRead(t *testing.T, db *bun.DB) {
	t.Helper()
	a := newMembers(t, db, c.sqlType)
	for i, value := range c.values {
		execute(t, db, fmt.Sprintf("INSERT INTO members VALUES (%d, %s)", i+1, value))
	}
	for i, got := range a.addedAt(t, len(c.values)) {
		if !got.Equal(c.want[i]) {
			t.Errorf("%s %s: got %v, want %v", c.sqlType, c.values[i], got, c.want[i])
		}
	}
}

func TestPostgreSQLReadsCreationTimesOfAllTypes(t *testing.T) {
	t.Parallel()
	created := time.Date(2024, 3, 1, 12, 30, 15, 123_456_000, time.UTC)
	seconds, day, none := created.Truncate(time.Second), created.Truncate(24*time.Hour), time.Time{}
	db := databases.PostgreSQL(t)
	execute(t, db, "CREATE DOMAIN moment AS timestamptz", "CREATE DOMAIN wall AS timestamp(6)",
		"CREATE DOMAIN unix AS bigint", "CREATE DOMAIN written AS text")
	for _, zone := range []string{"UTC", "America/St_Johns", "Pacific/Kiritimati"} {
		databaseIs(t, db, zone)
		for _, c := range []columnOfTimes{
			{"timestamptz", []string{
				"'2024-03-01 12:30:15.123456Z'", "'2024-03-01 14:30:15.123456+02'", "'infinity'", "'-infinity'",
				"'2024-03-01 BC'", "'0001-01-01 12:00Z'", "'294276-01-01'", "NULL",
			}, []time.Time{created, created, none, none, none, none, none, none}},
			{"moment", []string{"'2024-03-01 12:30:15.123456Z'"}, []time.Time{created}},
			{"timestamp", []string{"'2024-03-01 12:30:15.123456'", "'infinity'"}, []time.Time{created, none}},
			{"timestamp(0)", []string{"'2024-03-01 12:30:15.123456'"}, []time.Time{seconds}},
			{"wall", []string{"'2024-03-01 12:30:15.123456'"}, []time.Time{created}},
			{"date", []string{"'2024-03-01'", "'-infinity'"}, []time.Time{day, none}},
			{"char(32)", []string{"'2024-03-01T12:30:15.123456Z'", "'2024-02-30'"}, []time.Time{created, none}},
			{"written", []string{"'2024-03-01 12:30:15.123456'", "'1709296215'"}, []time.Time{created, seconds}},
			{"integer", []string{"1709296215", "17", "-1709296215"}, []time.Time{seconds, none, none}},
			{"unix", []string{"1709296215123456", "0"}, []time.Time{created, none}},
			{"numeric", []string{"1709296215.123456", "1.5", "'NaN'"}, []time.Time{created, none, none}},
			{"double precision", []string{"1709296215.123456", "2460370.5", "'Infinity'"}, []time.Time{created, day, none}},
			{"jsonb", []string{`'"2024-03-01"'`, "'{}'", "'null'", "'true'"}, []time.Time{day, none, none, none}},
			{"boolean", []string{"TRUE"}, []time.Time{none}},
			{"bytea", []string{"'2024-03-01'"}, []time.Time{none}},
			{"uuid", []string{"'f47ac10b-58cc-4372-a567-0e02b2c3d479'"}, []time.Time{none}},
			{"time", []string{"'12:30'"}, []time.Time{none}},
			{"timestamptz[]", []string{"'{2024-03-01}'"}, []time.Time{none}},
		} {
			c.isRead(t, db)
		}
	}
}

// databaseIs sets the time zone of all sessions.
func databaseIs(t *testing.T, db *bun.DB, zone string) {
	t.Helper()
	execute(t, db, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone = %L', current_database(), '"+zone+
		"'); END $$")
	databases.Reconnect(db)
}

func TestSQLiteReadsCreationTimesOfAllTypes(t *testing.T) {
	t.Parallel()
	created := time.Date(2024, 3, 1, 12, 30, 15, 123_456_000, time.UTC)
	seconds, day, none := created.Truncate(time.Second), created.Truncate(24*time.Hour), time.Time{}
	db := databases.SQLite(t)
	for _, sqlType := range []string{"", "datetime", "timestamp", "text", "integer", "real", "numeric", "blob"} {
		c := columnOfTimes{sqlType, []string{
			"'2024-03-01 12:30:15.123456789+00:00'", "datetime('2024-03-01 12:30:15')", "date('2024-03-01')", "NULL", "''",
			"1709296215", "1709296215123456", "1709296215.123456", "1709296215000", "17", "'x'", "x'32303234'",
			"julianday('2024-03-01')", "-1709296215", "9e999", "1e17", "1709296215000000000",
		}, []time.Time{
			created, seconds, day, none, none, seconds, created, created, seconds, none, none, none, day, none, none,
			time.Date(1973, 3, 3, 9, 46, 40, 0, time.UTC), seconds,
		}}
		if sqlType == "text" { // the text of the number is 1.0e+17
			c.want[15] = none
		}
		c.isRead(t, db)
	}
}
