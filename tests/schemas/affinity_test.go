package schemas

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

type owner[K any] struct {
	bun.BaseModel `bun:"table:owners" subject:"owned"`
	Key           K      `bun:"key,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact"`
}

type car[K any] struct {
	bun.BaseModel `bun:"table:cars" subject:"owned"`
	Plate         K         `bun:"plate,pk"`
	Key           K         `bun:"key"`
	Owner         *owner[K] `bun:"rel:belongs-to,join:key=key"`
	Model         string    `bun:"model" pii:"behavioral"`
}

type ride[K any] struct {
	bun.BaseModel `bun:"table:rides" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	Plate         K       `bun:"plate"`
	Car           *car[K] `bun:"rel:belongs-to,join:plate=plate"`
	Goal          string  `bun:"goal" pii:"location"`
}

func garage[K any]() []any { return []any{(*owner[K])(nil), (*car[K])(nil), (*ride[K])(nil)} }

// carTables returns the statements that create the tables "owners", "cars" and "rides". The parameters are the SQL
// types of these columns: the key of "owners", the foreign key of "cars", the key of "cars" ("plate"), and the foreign
// key of "rides".
func carTables(key, foreign, plate, foreignPlate string) []string {
	return []string{
		"PRAGMA foreign_keys = OFF",
		"CREATE TABLE owners (key " + key + " PRIMARY KEY, email text)",
		"CREATE TABLE cars (plate " + plate + " PRIMARY KEY, key " + foreign + ", model text)",
		"CREATE TABLE rides (id integer PRIMARY KEY, plate " + foreignPlate + ", goal text)",
	}
}

// SQLite converts values to compare columns of different types. For example, it converts '007' to 7, and it converts
// some different long numbers to the same number. A relation between such columns could join rows of different people.
// Such a relation is refused.
func TestRelationsWithLossyConversionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		models                            []any
		key, foreign, plate, foreignPlate string
		names                             []string
	}{
		"a text and a float":     {garage[string](), "text", "double precision", "text", "text", []string{"cars.key"}},
		"no type and an integer": {garage[string](), "", "int", "text", "text", []string{"cars.key"}},
		"a blob and an integer":  {garage[string](), "blob", "int", "text", "text", []string{"cars.key"}},
		"an integer and a text":  {garage[string](), "integer", "text", "text", "text", []string{"cars.key"}},
		"an integer and no type": {garage[string](), "integer", "", "text", "text", []string{"cars.key"}},
		"any and an integer":     {garage[string](), "any", "integer", "text", "text", []string{"cars.key"}},
		"numbers as reals":       {garage[int64](), "integer", "real", "integer", "integer", []string{"cars.key"}},
		"a real key of numbers":  {garage[int64](), "float", "float", "integer", "integer", []string{"owners.key"}},
		"numbers as texts":       {garage[int64](), "text", "blob", "text", "text", []string{"cars.key"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, databases.SQLite(t), app.Config{Models: test.models, TrustRowFilters: true}, append(
				carTables(test.key, test.foreign, test.plate, test.foreignPlate),
				"INSERT INTO owners VALUES ('7', 'a'), ('8', 'b')", "INSERT INTO cars VALUES ('5', '7', 'x')",
				"INSERT INTO rides VALUES (1, '5', 'x')")...)
			_, erasing := a.erase(t.Context(), "7")
			bundle, exporting := a.export(t.Context(), "7")
			_, rectifying := a.rectify(t.Context(), "7", domain.Corrections{domain.CategoryContact: "c@example.org"})
			for what, err := range map[string]error{"erase": erasing, "export": exporting, "rectify": rectifying} {
				if !errors.Is(err, domain.ErrConfiguration) {
					t.Errorf("%s: %v", what, err)
					continue
				}
				for _, name := range test.names {
					if !strings.Contains(err.Error(), name) {
						t.Errorf("%s: %v does not name %s", what, err, name)
					}
				}
			}
			if n := a.count(t, "SELECT (SELECT count(*) FROM owners) + (SELECT count(*) FROM cars)"); n != 3 ||
				len(bundle.Records) > 0 {
				t.Errorf("%d rows are left, %d records exported", n, len(bundle.Records))
			}
		})
	}
}

// These combinations of types occur in applications and in the tables that bun creates. The conversions of SQLite do
// not make different values equal, so the relations are accepted.
func TestTypesWithoutLossyConversionsAreAccepted(t *testing.T) {
	t.Parallel()
	const one, two = "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "00000000-0000-4000-8000-000000000000"
	for name, test := range map[string]struct {
		models       []any
		key, foreign string
		ids          [2]string
	}{
		"texts":         {garage[string](), "text", "text", [2]string{"007", "7"}},
		"limited texts": {garage[string](), "TEXT", "VARCHAR(20)", [2]string{"1e5", "100000"}},
		"long numbers as texts": {
			garage[string](), "text", "nvarchar", [2]string{"12345678901234567890", "12345678901234567891"},
		},
		"texts without a type":   {garage[string](), "text", "", [2]string{"007", "7"}},
		"texts as blobs":         {garage[string](), "blob", "text", [2]string{"007", "7"}},
		"texts in strings":       {garage[string](), "STRING", "STRING", [2]string{"7", "8"}},
		"texts in integers":      {garage[string](), "integer", "bigint", [2]string{"7", "8"}},
		"texts and integers":     {garage[string](), "text", "integer", [2]string{"7", "8"}},
		"texts and numbers":      {garage[string](), "varchar(20)", "numeric(20)", [2]string{"7", "8"}},
		"texts and decimals":     {garage[string](), "text", "numeric", [2]string{"-7.5", "-0.25"}},
		"texts and strings":      {garage[string](), "text", "STRING", [2]string{"1e", "a8"}},
		"hexadecimal texts":      {garage[string](), "text", "integer", [2]string{"0x7", "７"}},
		"integers":               {garage[int64](), "INTEGER", "INTEGER", [2]string{"7", "9223372036854775807"}},
		"big integers":           {garage[int64](), "BIGINT", "INT8", [2]string{"7", "9007199254740993"}},
		"serial integers":        {garage[int64](), "BIGSERIAL", "BIGINT", [2]string{"7", "8"}},
		"integers and numbers":   {garage[int64](), "integer", "numeric(10)", [2]string{"7", "8"}},
		"integers as texts":      {garage[int64](), "integer", "text", [2]string{"7", "8"}},
		"untyped integers":       {garage[int64](), "", "", [2]string{"7", "8"}},
		"integers and untyped":   {garage[int64](), "integer", "", [2]string{"7", "8"}},
		"UUIDs":                  {garage[uuid.UUID](), "uuid", "uuid", [2]string{one, two}},
		"UUIDs without a type":   {garage[uuid.UUID](), "", "", [2]string{one, two}},
		"UUIDs as texts":         {garage[uuid.UUID](), "text", "char(36)", [2]string{one, two}},
		"UUIDs of several types": {garage[uuid.UUID](), "uuid", "varchar(36)", [2]string{one, two}},
	} {
		t.Run(name, func(t *testing.T) {
			db := databases.SQLite(t)
			value := "'%'"
			if test.models[0] == any((*owner[int64])(nil)) {
				value = "%"
			}
			statements := carTables(test.key, test.foreign, test.key, test.foreign)
			for i, id := range test.ids {
				v, n := strings.ReplaceAll(value, "%", id), []string{"1", "2"}[i]
				statements = append(statements, "INSERT INTO owners VALUES ("+v+", 'a"+n+"')",
					"INSERT INTO cars VALUES ("+v+", "+v+", 'x"+n+"')", "INSERT INTO rides VALUES ("+n+", "+v+", 'x"+n+"')")
			}
			a := open(t, db, app.Config{Models: test.models}, statements...)
			if bundle, err := a.export(t.Context(), test.ids[0]); err != nil || len(bundle.Records) != 3 {
				t.Errorf("exported %v, %v", bundle.Records, err)
			}
			result, err := a.erase(t.Context(), test.ids[0])
			if err != nil || result.Deleted["owners"] != 1 || result.Deleted["cars"] != 1 || result.Deleted["rides"] != 1 {
				t.Errorf("erased %v, %v", result.Deleted, err)
			}
			if n := a.count(t, "SELECT (SELECT count(*) FROM owners) + (SELECT count(*) FROM cars)"+
				" + (SELECT count(*) FROM rides) WHERE (SELECT goal FROM rides) = 'x2'"); n != 3 {
				t.Errorf("%d rows of the other one are left", n)
			}
		})
	}
}

// SQLite would convert each of these subject ids to the key of another row, so the id is refused. For example, it would
// convert '007' to 7.
func TestAnIDThatSQLiteConvertsIsRefused(t *testing.T) {
	t.Parallel()
	for id, test := range map[string]struct{ key, stored string }{
		"007": {"numeric", "7"}, "1e5": {"integer", "100000"}, "7": {"real", "7"},
		"12345678901234567890": {"numeric", "12345678901234567891"},
	} {
		a := open(t, databases.SQLite(t), app.Config{Models: garage[string]()}, append(
			carTables(test.key, test.key, "text", "text"), "INSERT INTO owners VALUES ('"+test.stored+"', 'a')",
			"INSERT INTO cars VALUES ('5', '"+test.stored+"', 'x')")...)
		_, erasing := a.erase(t.Context(), id)
		_, exporting := a.export(t.Context(), id)
		if !errors.Is(erasing, domain.ErrSubject) || !errors.Is(exporting, domain.ErrSubject) {
			t.Errorf("%s: erased %v, exported %v", id, erasing, exporting)
		}
		if a.count(t, "SELECT (SELECT count(*) FROM owners) + (SELECT count(*) FROM cars)") != 2 {
			t.Errorf("%s: rows are gone", id)
		}
	}
}

// A numeric column of SQLite stores these ids as numbers that other texts have, too. Operations on such a subject are
// refused, because its rows could belong to another subject.
func TestAnIDThatANumericColumnDoesNotKeepIsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"07", "+7", " 7", "7 ", "\t7", "\v7\r", "7.0", "7.", ".7", "-.7", "1e1", "1E+1", "70e-1", "-0", "-07", "0.70",
		"12345678901234567890", "9223372036854775808", "9007199254740993.5", "1e999", "0.1234567890123456",
	} {
		for _, types := range [][2]string{{"text", "integer"}, {"varchar(40)", "decimal(20, 2)"}, {"numeric", "numeric"}} {
			for _, present := range []bool{true, false} {
				refusesID(t, id, types[0], types[1], present)
			}
		}
	}
}

// refusesID fails the test unless each operation on the subject names owners.key and cars.key, and changes no row. The
// parameters key and foreign are the types of these columns.
func refusesID(t *testing.T, id, key, foreign string, present bool) {
	t.Helper()
	db := databases.SQLite(t)
	a := open(t, db, app.Config{Models: garage[string]()}, carTables(key, foreign, "text", "text")...)
	owners := []string{"8", id}
	if !present {
		owners = owners[:1]
	}
	for _, owner := range owners {
		if _, err := db.ExecContext(t.Context(), "INSERT INTO owners VALUES (?, 'a')", owner); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO cars VALUES ('5', ?, 'x')", id); err != nil {
		t.Fatal(err)
	}
	_, erasing := a.erase(t.Context(), id)
	_, exporting := a.export(t.Context(), id)
	_, rectifying := a.rectify(t.Context(), id, domain.Corrections{domain.CategoryContact: "c@example.org"})
	for what, err := range map[string]error{"erase": erasing, "export": exporting, "rectify": rectifying} {
		if !errors.Is(err, domain.ErrSubject) || strings.Contains(err.Error(), id) ||
			!strings.Contains(err.Error(), "cars.key") || !strings.Contains(err.Error(), "owners.key") {
			t.Errorf("%q, %s and %s: %s: %v", id, key, foreign, what, err)
		}
	}
	if n := a.count(t, "SELECT (SELECT count(*) FROM owners WHERE email = 'a') + (SELECT count(*) FROM cars)"); n !=
		len(owners)+1 {
		t.Errorf("%q, %s and %s: %d rows are left", id, key, foreign, n)
	}
}

// holder has permits, whose scans are files in an external system. The key is a text, and a permit refers to it by a
// number.
type holder struct {
	bun.BaseModel `bun:"table:owners"`
	Key           string `bun:"key,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

type permit struct {
	bun.BaseModel `bun:"table:permits"`
	ID            int64     `bun:"id,pk"`
	Key           string    `bun:"key"`
	Owner         *holder   `bun:"rel:belongs-to,join:key=key"`
	Scan          string    `bun:"scan" pii:"financial,erasure:retain,reason:'books',retain:1y,since:issued_at,ref:media"`
	IssuedAt      time.Time `bun:"issued_at"`
}

// The same ids are refused when keys of external systems are read, in a sweep and in a verification. The database
// records an erasure of the subject, as an earlier version made it.
func TestLaterOperationsRefuseAnIDThatANumericColumnDoesNotKeep(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"07", "1e1", "+7", "7.0"} {
		for _, types := range [][2]string{{"text", "integer"}, {"numeric", "numeric"}} {
			db := databases.SQLite(t)
			config := app.Config{
				Models: []any{(*holder)(nil), (*permit)(nil)}, Resolvers: []ports.Resolver{&shelf{name: "media"}},
			}
			a := open(t, db, config, "PRAGMA foreign_keys = OFF",
				"CREATE TABLE owners (key "+types[0]+" PRIMARY KEY, email text)",
				"CREATE TABLE permits (id integer PRIMARY KEY, key "+types[1]+", scan text, issued_at timestamp)",
				"INSERT INTO permits VALUES (1, '"+id+"', 'scan.png', '2001-01-01 00:00:00')",
				"INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures, intake)"+
					" VALUES ('"+id+"', '2001-02-01T00:00:00.000000Z', 1, 1)")
			subject := fixture.MustID(t, id)
			for what, fn := range laterOperations(a.Plan(), subject) {
				err := a.Stack().Sessions.Do(t.Context(), fn)
				if !errors.Is(err, domain.ErrSubject) || !strings.Contains(err.Error(), "permits.key") ||
					!strings.Contains(err.Error(), "owners.key") {
					t.Errorf("%s, %v: %s: %v", id, types, what, err)
				}
			}
			if _, err := a.Operator().Verify(t.Context(), subject); !errors.Is(err, domain.ErrSubject) {
				t.Errorf("%s, %v: verified: %v", id, types, err)
			}
			if got := a.cells(t, "SELECT scan FROM permits"); got != "scan.png" {
				t.Errorf("%s, %v: the row is %s", id, types, got)
			}
		}
	}
}

// laterOperations returns the operations that read or overwrite rows of the subject after an erasure.
func laterOperations(
	planned datamap.Plan, id domain.SubjectID,
) map[string]func(context.Context, ports.Session) error {
	now := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	query := plan.KeyQuery{Resolver: "media", Limit: 10}
	ofErasure := plan.KeyQuery{Resolver: "media", Limit: 10, ErasedAt: now}
	return map[string]func(context.Context, ports.Session) error{
		"keys": func(ctx context.Context, s ports.Session) error { return second(s.Subjects().Keys(ctx, id, query)) },
		"keys of an erasure": func(ctx context.Context, s ports.Session) error {
			return second(s.Subjects().Keys(ctx, id, ofErasure))
		},
		"keys of a sweep": func(ctx context.Context, s ports.Session) error {
			return second(s.Erased().SweptKeys(ctx, id, ofErasure))
		},
		"sweep": func(ctx context.Context, s ports.Session) error {
			return second(s.Erased().Sweep(ctx, id, plan.SweepAt(planned, now)))
		},
		"verify": func(ctx context.Context, s ports.Session) error {
			return second(s.Erased().LeftOver(ctx, id, plan.LocalAt(planned, now), now))
		},
	}
}

// The collation RTRIM ignores trailing blanks, so a foreign key 'Ada ' refers to the key 'Ada'. Such rows are erased,
// too.
func TestRowsWhoseKeysDifferInTrailingBlanksAreErased(t *testing.T) {
	t.Parallel()
	a := open(t, databases.SQLite(t), app.Config{Models: garage[string]()}, append(
		carTables("text COLLATE RTRIM", "text COLLATE RTRIM", "text COLLATE RTRIM", "text COLLATE RTRIM"),
		"INSERT INTO owners VALUES ('Ada', 'a'), ('Bob', 'b')",
		"INSERT INTO cars VALUES ('5', 'Ada ', 'x'), ('6', 'Bob ', 'x')",
		"INSERT INTO rides VALUES (1, '5 ', 'x'), (2, '6 ', 'x')")...)
	result, err := a.erase(t.Context(), "Ada")
	if err != nil || result.Deleted["cars"] != 1 || result.Deleted["rides"] != 1 {
		t.Errorf("erased %v, %v", result.Deleted, err)
	}
}

type document struct {
	bun.BaseModel `bun:"table:documents" subject:"owned"`
	Code          string  `bun:"code,pk"`
	Handle        string  `bun:"handle"`
	Member        *member `bun:"rel:belongs-to,join:handle=handle"`
	Body          string  `bun:"body" pii:"communication"`
}

type page struct {
	bun.BaseModel `bun:"table:pages" subject:"owned"`
	ID            int64     `bun:"id,pk"`
	Code          string    `bun:"code"`
	Document      *document `bun:"rel:belongs-to,join:code=code"`
	Body          string    `bun:"body" pii:"communication"`
}

// In SQLite, a foreign key of type integer converts '01' to 1. The members '1' and '01' are different people. The
// erasure of one member must not delete rows of the other.
func TestAnIntegerForeignKeyDoesNotMixTwoPersons(t *testing.T) {
	t.Parallel()
	a := open(t, databases.SQLite(t), app.Config{Models: []any{(*member)(nil), (*document)(nil), (*page)(nil)}},
		"PRAGMA foreign_keys = OFF",
		"CREATE TABLE members (handle text PRIMARY KEY, email text)",
		"CREATE TABLE documents (code text PRIMARY KEY, handle integer, body text)",
		"CREATE TABLE pages (id bigint PRIMARY KEY, code integer, body text)",
		"INSERT INTO members VALUES ('1', 'a'), ('01', 'b'), ('2', 'c')",
		"INSERT INTO documents VALUES ('5', '1', 'of 1'), ('05', '2', 'of 2')",
		"INSERT INTO pages VALUES (1, '5', 'of 5')")
	for _, other := range []string{"01", "2"} {
		if _, err := a.erase(t.Context(), other); (other == "01") != errors.Is(err, domain.ErrSubject) {
			t.Fatal(err)
		}
		if a.count(t, "SELECT count(*) FROM documents WHERE code = '5'") != 1 ||
			a.count(t, "SELECT count(*) FROM pages") != 1 {
			t.Fatalf("erasing %s erased rows of 1", other)
		}
	}
	if _, err := a.erase(t.Context(), "1"); err != nil || a.count(t, "SELECT count(*) FROM pages") > 0 {
		t.Errorf("a page is left, %v", err)
	}
}
