package bunstore_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// Exhibit has columns of types that only PostgreSQL has, or that PostgreSQL treats differently from SQLite.
type Exhibit struct {
	bun.BaseModel `bun:"table:exhibits"`
	ID            int64   `bun:"id,pk"`
	OwnerID       int64   `bun:"owner_id"`
	Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
	Kept          string  `bun:"kept"`

	Float   float64      `bun:"float,type:double precision" pii:"identity"`
	Float4  float32      `bun:"float4,type:real" pii:"identity"`
	Exact   string       `bun:"exact,type:numeric" pii:"identity"`
	Scaled  string       `bun:"scaled,type:numeric(12,4)" pii:"identity"`
	Date    sql.NullTime `bun:"date,type:date" pii:"identity"`
	Local   sql.NullTime `bun:"local,type:timestamp without time zone" pii:"identity"`
	Instant sql.NullTime `bun:"instant,type:timestamptz" pii:"identity"`
	Mood    string       `bun:"mood,type:mood" pii:"identity,surrogate:calm"`
	Net     string       `bun:"net,type:cidr" pii:"identity,surrogate:0.0.0.0/0"`
	Address string       `bun:"address,type:inet" pii:"identity,surrogate:'::'"`
	Span    string       `bun:"span,type:interval" pii:"identity,surrogate:'0 days'"`
	Padded  string       `bun:"padded,type:char(40)" pii:"identity"`
	Doc     string       `bun:"doc,type:json" pii:"identity"`
	DocB    string       `bun:"docb,type:jsonb" pii:"identity"`
	Times   []string     `bun:"times,type:timestamptz[]" pii:"identity"`
	Moods   []string     `bun:"moods,type:mood[]" pii:"identity"`
	Numbers []int64      `bun:"numbers,type:integer[]" pii:"identity"`
	Blob    []byte       `bun:"blob,type:bytea" pii:"identity"`
}

const exhibits = `CREATE TABLE exhibits (
	id bigint PRIMARY KEY, owner_id bigint NOT NULL REFERENCES people (id), kept text NOT NULL,
	float double precision NOT NULL, float4 real NOT NULL, exact numeric NOT NULL, scaled numeric(12,4) NOT NULL,
	date date NOT NULL, local timestamp NOT NULL, instant timestamptz NOT NULL,
	mood mood NOT NULL, net cidr NOT NULL, address inet NOT NULL, span interval NOT NULL, padded char(40) NOT NULL,
	doc json NOT NULL, docb jsonb NOT NULL, times timestamptz[] NOT NULL,
	moods mood[] NOT NULL, numbers integer[] NOT NULL,
	blob bytea NOT NULL)`

// museum returns an application with the table "exhibits". The URL of its connections has the given parameters, and a
// time zone other than UTC.
func museum(t *testing.T, parameters string) *application {
	t.Helper()
	connection, err := sql.Open("pgx", postgres.NewDatabase(t)+"&timezone=America/New_York"+parameters)
	must(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	db := bun.NewDB(connection, pgdialect.New())
	execute(t, db, "CREATE TYPE mood AS ENUM ('calm', 'it''s complicated')",
		"CREATE TABLE people (id bigint PRIMARY KEY)", exhibits, "INSERT INTO people VALUES (1)")
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	return existingApplication(t, db, nil, (*person)(nil), (*Exhibit)(nil))
}

const ordinary = `INSERT INTO exhibits VALUES (1, 1, 'kept',
	1e300, 0.1, 123456789012345678901234567890.12345678901234567890, 1234.5, '1990-02-03', '1990-02-03 04:05:06.789',
	'2024-07-01 12:00:00.123456+05:30', 'it''s complicated', '192.0.2.0/24', '192.0.2.7', '1 year 2 days', 'padded',
	'{"b": 1, "a": 1.10, "a": 2}', '{"b": 1, "a": 1.10}', '{2024-07-01 12:00:00+00}',
	'{calm,"it''s complicated"}', '{3,-1}',
	'\x00ff')`

var ordinaryValues = map[string]string{
	"float": `1e+300`, "float4": `0.1`, "exact": `123456789012345678901234567890.12345678901234567890`,
	"scaled": `1234.5000`,
	"date":   `"1990-02-03"`, "local": `"1990-02-03T04:05:06.789"`, "instant": `"2024-07-01T06:30:00.123456Z"`,
	"mood": `"it's complicated"`, "net": `"192.0.2.0/24"`, "address": `"192.0.2.7"`, "span": `"1 year 2 days"`,
	"padded": `"padded                                  "`,
	"doc":    `{"b":1,"a":1.10,"a":2}`, "docb": `{"a":1.10,"b":1}`, "times": `["2024-07-01T08:00:00-04:00"]`,
	"moods": `["calm","it's complicated"]`, "numbers": `[3,-1]`, "blob": `"AP8="`,
}

func TestTypesOfPostgreSQLAreExportedInEveryModeOfItsDriver(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{
		"", "&default_query_exec_mode=cache_describe", "&default_query_exec_mode=describe_exec",
		"&default_query_exec_mode=exec", "&default_query_exec_mode=simple_protocol",
	} {
		t.Run(parameters, func(t *testing.T) {
			a := museum(t, parameters)
			execute(t, a.db, ordinary)
			wantValues(t, a.values(t, "1"), ordinaryValues)
		})
	}
}

func TestTypesOfPostgreSQLAreAnonymizedInEveryModeOfItsDriver(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{"", "&default_query_exec_mode=exec", "&default_query_exec_mode=simple_protocol"} {
		t.Run(parameters, func(t *testing.T) {
			a := museum(t, parameters)
			execute(t, a.db, ordinary)
			wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize exhibits": 1})
			wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize exhibits": 1})

			values := a.values(t, "1")
			if len(values["padded"]) != 42 || values["padded"] == ordinaryValues["padded"] {
				t.Errorf("padded: got %s", values["padded"])
			}
			delete(values, "padded")
			wantValues(t, values, map[string]string{
				"float": `0`, "float4": `0`, "exact": `0`, "scaled": `0.0000`,
				"date": `"1970-01-01"`, "local": `"1970-01-01T00:00:00"`, "instant": `"1970-01-01T00:00:00Z"`,
				"mood": `"calm"`, "net": `"0.0.0.0/0"`, "address": `"::"`, "span": `"00:00:00"`,
				"doc": `{}`, "docb": `{}`, "times": `[]`, "moods": `[]`, "numbers": `[]`, "blob": `""`,
			})
			var read Exhibit
			must(t, a.db.NewSelect().Model(&read).Scan(t.Context()))
			if !read.Instant.Time.Equal(time.Unix(0, 0)) || read.Mood != "calm" {
				t.Errorf("the application reads %+v", read)
			}
		})
	}
}

func TestNumbersThatJSONDoesNotHaveAreExportedAsText(t *testing.T) {
	t.Parallel()
	a := museum(t, "")
	execute(t, a.db, ordinary, `UPDATE exhibits SET float = 'NaN', float4 = 'Infinity', exact = 'NaN',
		date = 'infinity', local = '-infinity', instant = 'infinity'`)
	values := a.values(t, "1")
	for column, want := range map[string]string{
		"float": `"NaN"`, "float4": `"Infinity"`, "exact": `"NaN"`,
		"date": `"infinity"`, "local": `"-infinity"`, "instant": `"infinity"`,
	} {
		if values[column] != want {
			t.Errorf("%s: got %s, want %s", column, values[column], want)
		}
	}
}

// The test covers all types that the two databases export differently. See TestExportedValuesAreTheSameOnBothDatabases
// for the other types.
func TestValuesThatTheTwoDatabasesExportDifferently(t *testing.T) {
	t.Parallel()
	type Sample struct {
		bun.BaseModel `bun:"table:samples" subject:"owned"`
		ID            int64          `bun:"id,pk" subject:"id"`
		Scaled        string         `bun:"scaled,type:numeric(10,2)" pii:"identity"`
		Exact         string         `bun:"exact,type:numeric(30,2)" pii:"identity"`
		Large         float64        `bun:"large" pii:"identity"`
		Padded        string         `bun:"padded,type:char(4)" pii:"identity"`
		Document      map[string]any `bun:"document" pii:"identity"`
		Infinite      float64        `bun:"infinite" pii:"identity"`
	}
	for name, want := range map[string]map[string]string{
		"SQLite": { // SQLite has no exact decimals and no padding, and keeps JSON as it was written
			"scaled": `12.5`, "exact": `1.2345678901234569e+27`, "large": `1000000000000000`, "padded": `"ab"`,
			"document": `{"aa":1,"b":2}`, "infinite": `"Infinity"`,
		},
		"PostgreSQL": { // keeps the scale of the column, pads texts, and sorts the names in JSON by length first
			"scaled": `12.50`, "exact": `1234567890123456789012345678.91`, "large": `1e+15`, "padded": `"ab  "`,
			"document": `{"b":2,"aa":1}`, "infinite": `"Infinity"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := databases.PostgreSQL
			if name == "SQLite" {
				db = databases.SQLite
			}
			a := newApplication(t, db(t), nil, (*Sample)(nil))
			infinite := "'Infinity'"
			if name == "SQLite" {
				infinite = "9e999"
			}
			execute(t, a.db, `INSERT INTO samples`+
				` VALUES (1, 12.50, 1234567890123456789012345678.91, 1e15, 'ab', '{"aa":1,"b":2}', `+infinite+`)`)
			wantValues(t, a.values(t, "1"), want)
		})
	}
}

// wantValues fails unless got equals want.
func wantValues(t testing.TB, got, want map[string]string) {
	t.Helper()
	for _, column := range slices.Sorted(maps.Keys(want)) {
		if got[column] != want[column] {
			t.Errorf("%s: got %s, want %s", column, got[column], want[column])
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d values, want %d: %v", len(got), len(want), slices.Sorted(maps.Keys(got)))
	}
}

// An export must contain the time in UTC, even for a time with an unusual offset: in the time zone of museum, the local
// time was 4 hours, 56 minutes and 2 seconds behind UTC until 1883.
func TestATimeFromBeforeThereWereTimeZonesIsExported(t *testing.T) {
	t.Parallel()
	a := museum(t, "")
	execute(t, a.db, ordinary, "UPDATE exhibits SET instant = '1880-07-01 12:00:00.25+00'")
	if got := a.values(t, "1")["instant"]; got != `"1880-07-01T12:00:00.25Z"` {
		t.Errorf("got %s", got)
	}
}

func TestATimeThatJSONCannotEncodeIsExportedAsText(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.PostgreSQL(t), 0)
	execute(t, s.db, "UPDATE users SET born = '12000-01-01 00:00:00+00' WHERE id = 1")
	s.do(t, func(ctx context.Context, session ports.Session) error {
		return session.Subjects().Export(ctx, s.alice.ID, func(record domain.ExportRecord) error {
			_, err := json.Marshal(record)
			return err
		})
	})
}
