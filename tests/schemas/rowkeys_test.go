package schemas

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// sheet is a table whose keys have a type that the model does not tell. An erasure deletes its rows.
type sheet struct {
	bun.BaseModel `bun:"table:sheets" subject:"owned"`
	ID            string  `bun:"id,pk"`
	WriterID      int64   `bun:"writer_id"`
	Writer        *writer `bun:"rel:belongs-to,join:writer_id=id"`
	Text          string  `bun:"text" pii:"communication"`
}

// stain is such a table whose rows an erasure overwrites.
type stain struct {
	bun.BaseModel `bun:"table:stains"`
	ID            string  `bun:"id,pk"`
	WriterID      int64   `bun:"writer_id"`
	Writer        *writer `bun:"rel:belongs-to,join:writer_id=id"`
	Text          string  `bun:"text" pii:"communication,erasure:anonymize"`
}

var stationery = []any{(*writer)(nil), (*sheet)(nil), (*stain)(nil)}

// keyed describes the keys of these tables: the definition of the column id, the keys of a person, and the key of
// another person.
type keyed struct {
	id      string
	own     []string
	foreign string
	more    string // follows the columns of the table
}

func (k keyed) tables() []string {
	tables := []string{
		"CREATE TABLE writers (id bigint PRIMARY KEY, name text, biography text)",
		"INSERT INTO writers VALUES (1, 'Zoe', 'life'), (2, 'Bob', 'other life')",
	}
	for _, name := range []string{"sheets", "stains"} {
		tables = append(tables, "CREATE TABLE "+name+" (id "+k.id+", writer_id integer, text text)"+k.more,
			"INSERT INTO "+name+" VALUES ("+k.foreign+", 2, 'a foreign text')")
		for _, key := range k.own {
			tables = append(tables, "INSERT INTO "+name+" VALUES ("+key+", 1, 'an old text')")
		}
	}
	return tables
}

var keysOfSQLite = map[string]keyed{
	"blobs":           {id: "BLOB PRIMARY KEY", own: []string{"x'00ff'", "x'0001'", "x''"}, foreign: "x'00'"},
	"no type":         {id: "PRIMARY KEY", own: []string{"5", "'5'", "x'35'", "'NULL'", "'x'"}, foreign: "'6'"},
	"texts":           {id: "text PRIMARY KEY", own: []string{"'5'", "''", "'\"\"'", "x'35'", `'\x35'`}, foreign: "'6'"},
	"ANY":             {id: "ANY PRIMARY KEY", own: []string{"5", "'5'", "x'35'", "5.5"}, foreign: "'6'", more: " STRICT"},
	"NULL":            {id: "text PRIMARY KEY", own: []string{"NULL", "NULL", "'a'"}, foreign: "NULL"},
	"numbers":         {id: "PRIMARY KEY", own: []string{"0.1", "0.1 + 0.2", "0.3", "'0.3'", "1e300"}, foreign: "0.2"},
	"without a rowid": {id: "BLOB PRIMARY KEY", own: []string{"x'01'", "1", "'1'"}, foreign: "2", more: " WITHOUT ROWID"},
	"numbers only":    {id: "numeric PRIMARY KEY", own: []string{"1", "2.5", "'a'", "x'31'"}, foreign: "3"},
	"folded texts":    {id: "text PRIMARY KEY COLLATE NOCASE", own: []string{"'a'", "'null'", "'É'"}, foreign: "'b'"},
	"times":           {id: "timestamp PRIMARY KEY", own: []string{"'2024-01-01'", "1704067200"}, foreign: "'2024-01-02'"},
}

var keysOfPostgres = map[string]keyed{
	"double precision": {
		id: "double precision PRIMARY KEY", own: []string{"0.3", "0.1::float8 + 0.2", "1e-320", "'NaN'"},
		foreign: "0.3000000000000002",
	},
	"real":  {id: "real PRIMARY KEY", own: []string{"0.1", "16777216", "'Infinity'"}, foreign: "0.10000001"},
	"bytea": {id: "bytea PRIMARY KEY", own: []string{`'\x00ff'`, `'\x'`, `'\x5c'`}, foreign: `'\x00'`},
	"instants": {
		id:      "timestamptz PRIMARY KEY",
		own:     []string{"'2024-10-27 00:30:00Z'", "'2024-10-27 01:30:00Z'", "'infinity'", "'1500-01-01 00:00Z'"},
		foreign: "'2024-10-27 02:30:00Z'",
	},
	"dates":     {id: "date PRIMARY KEY", own: []string{"'2024-02-01'", "'2024-01-02'"}, foreign: "'2024-03-01'"},
	"ranges":    {id: "numrange PRIMARY KEY", own: []string{"'[1,2)'", "'empty'"}, foreign: "'[1,3)'"},
	"intervals": {id: "interval PRIMARY KEY", own: []string{"'-1 day +2 hours'", "'1 month -3 days'"}, foreign: "'1 day'"},
	"texts":     {id: "char(5) PRIMARY KEY", own: []string{"'a'", "'null'", "''"}, foreign: "'b'"},
	"no key":    {id: "text", own: []string{"NULL", "NULL", "'NULL'", "'\"'", "'\"\"'", "''", "''''"}, foreign: "NULL"},
	"numbers":   {id: "numeric PRIMARY KEY", own: []string{"1.10", "1e20"}, foreign: "2"},
	"truths":    {id: "boolean PRIMARY KEY", own: []string{"true"}, foreign: "false"},
	"domains":   {id: "ratio PRIMARY KEY", own: []string{"0.1::float8 + 0.2", "0.3"}, foreign: "0.1"},
	"arrays":    {id: "float8[] PRIMARY KEY", own: []string{"ARRAY[0.1::float8 + 0.2]", "'{0.3}'"}, foreign: "'{}'"},
}

// eachKey runs a test with each kind of key, in sessions whose settings change how PostgreSQL writes values.
func eachKey(t *testing.T, run func(t *testing.T, db *bun.DB, k keyed)) {
	t.Helper()
	for name, k := range keysOfSQLite {
		t.Run("SQLite "+name, func(t *testing.T) { run(t, databases.SQLite(t), k) })
	}
	for name, k := range keysOfPostgres {
		t.Run("PostgreSQL "+name, func(t *testing.T) { run(t, oddSettings(t), k) })
	}
}

func oddSettings(t *testing.T) *bun.DB {
	t.Helper()
	database, err := url.Parse(postgres.NewDatabase(t))
	must(t, err)
	query := database.Query()
	for name, value := range map[string]string{
		"extra_float_digits": "-8", "DateStyle": "SQL, DMY", "TimeZone": "Europe/Berlin", "bytea_output": "escape",
		"IntervalStyle": "sql_standard",
	} {
		query.Set(name, value)
	}
	database.RawQuery = query.Encode()
	db := databases.Driver{Name: "PostgreSQL", SQL: "pgx"}.Open(t, database.String())
	execute(t, db, "CREATE DOMAIN ratio AS double precision")
	return db
}

// A trigger keeps the rows that a step deletes, and their texts (a soft delete).
func TestASoftDeleteIsFoundByKeysOfEveryType(t *testing.T) {
	t.Parallel()
	eachKey(t, func(t *testing.T, db *bun.DB, k keyed) {
		soft := sqliteTrigger("BEFORE DELETE", "sheets",
			"UPDATE sheets SET writer_id = -1 WHERE rowid = OLD.rowid; SELECT RAISE(IGNORE);")
		if isPostgres(db) {
			soft = function("BEFORE DELETE", "sheets", "UPDATE sheets SET writer_id = -1 WHERE id = OLD.id; RETURN NULL;")
		}
		if k.more == " WITHOUT ROWID" {
			soft = sqliteTrigger("BEFORE DELETE", "sheets",
				"UPDATE sheets SET writer_id = -1 WHERE id IS OLD.id; SELECT RAISE(IGNORE);")
		}
		a := open(t, db, app.Config{Models: stationery}, append(k.tables(), soft...)...)
		if result, err := a.erase(t.Context(), "1"); !errors.Is(err, domain.ErrLeftOver) {
			t.Errorf("erased %v, %v", result.Deleted, err)
		}
		if n := a.count(t, "SELECT count(*) FROM sheets WHERE writer_id = 1"); n != len(k.own) {
			t.Errorf("%d rows have their person", n)
		}
	})
}

// A trigger deletes the row of another person, and inserts it again or not.
func TestADeletedRowOfAnotherPersonIsCountedByKeysOfEveryType(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]error{"TRUE": nil, "FALSE": domain.ErrConflict} {
		eachKey(t, func(t *testing.T, db *bun.DB, k keyed) {
			body := "DELETE FROM stains WHERE writer_id = 2; INSERT INTO stains SELECT * FROM others WHERE " + condition + ";"
			deletes := sqliteTrigger("AFTER DELETE", "sheets", body)
			if isPostgres(db) {
				deletes = function("AFTER DELETE", "sheets", body+" RETURN NULL;")
			}
			a := open(t, db, app.Config{Models: stationery}, slices.Concat(k.tables(),
				[]string{"CREATE TABLE others AS SELECT * FROM stains WHERE writer_id = 2"}, deletes)...)
			want := want
			if k.foreign == "NULL" && !isPostgres(db) {
				want = domain.ErrConflict // another row may be the same one or not
			}
			if result, err := a.erase(t.Context(), "1"); !errors.Is(err, want) {
				t.Errorf("erased %v, %v (%v)", result, err, errors.Unwrap(err))
			}
			if n := a.count(t, "SELECT count(*) FROM stains WHERE writer_id = 2"); n != 1 {
				t.Errorf("%d rows of the other person are left", n)
			}
		})
	}
}

// An export names each row by its key. A correction finds the row by this name, and so does an erasure where a trigger
// makes the store read the rows again.
func TestRowsWithKeysOfEveryTypeAreCorrectedAndErased(t *testing.T) {
	t.Parallel()
	eachKey(t, func(t *testing.T, db *bun.DB, k keyed) {
		watched := sqliteTrigger("AFTER UPDATE", "stains", "SELECT 1;")
		if isPostgres(db) {
			watched = function("BEFORE UPDATE", "stains", "RETURN NEW;")
		}
		a := open(t, db, app.Config{Models: stationery}, append(k.tables(), watched...)...)
		for row, n := range namesOfStains(t, a, k) {
			result, err := a.correct(t.Context(), "1",
				domain.Correction{Table: "stains", Column: "text", Row: row, Value: "right"})
			if err != nil || result.Rectified["stains"] != int64(n) {
				t.Errorf("row %q: corrected %v, %v (%v)", row, result.Rectified, err, errors.Unwrap(err))
			}
			if got := a.count(t, "SELECT count(*) FROM stains WHERE text = 'right'"); got != n {
				t.Errorf("row %q: %d rows are corrected, want %d", row, got, n)
			}
			execute(t, db, "UPDATE stains SET text = 'an old text' WHERE text = 'right'")
		}
		result, err := a.erase(t.Context(), "1")
		want := int64(len(k.own))
		if err != nil || result.Deleted["sheets"] != want || result.Anonymized["stains"] != want {
			t.Errorf("erased %v, %v, %v (%v)", result.Deleted, result.Anonymized, err, errors.Unwrap(err))
		}
		for _, name := range []string{"sheets", "stains"} {
			if n := a.count(t, "SELECT count(*) FROM "+name+" WHERE text = 'an old text'"); n > 0 {
				t.Errorf("%d rows of %s are left", n, name)
			}
			if a.count(t, "SELECT count(*) FROM "+name+" WHERE text = 'a foreign text'") != 1 {
				t.Errorf("the row of another person in %s is gone", name)
			}
		}
	})
}

// namesOfStains returns the names of the rows in an export, with the number of rows of each name. Only keys that are
// NULL have the same name.
func namesOfStains(t *testing.T, a *application, k keyed) map[string]int {
	t.Helper()
	bundle, err := a.export(t.Context(), "1")
	must(t, err)
	rows := map[string]int{}
	for _, record := range bundle.Records {
		if record.Source == "stains" && record.Field == "text" {
			rows[record.Row]++
		}
	}
	if len(rows) != len(slices.Compact(slices.Sorted(slices.Values(k.own)))) || rows[""] > 0 {
		t.Errorf("the names are %q", slices.Sorted(maps.Keys(rows)))
	}
	return rows
}
