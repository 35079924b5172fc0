package schemas

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// lodger is a model of a table that has further columns, which the data map does not have.
type lodger struct {
	bun.BaseModel `bun:"table:lodgers"`
	ID            int64   `bun:"id,pk" subject:"id"`
	Email         string  `bun:"email" pii:"contact,erasure:anonymize"`
	Nick          string  `bun:"nick" pii:"identity,erasure:anonymize"`
	Code          string  `bun:"code" pii:"identity,erasure:anonymize"`
	Age           int     `bun:"age" pii:"identity,erasure:anonymize"`
	Born          *string `bun:"born,type:text" pii:"identity,erasure:null"`
}

const lodgerTable = "CREATE TABLE lodgers (id bigint PRIMARY KEY, email text, nick text, code text," +
	" age int, born text," +
	" note text, visits bigint, active boolean, data {blob}, doc {json}{more})"

// lodgers returns the statements for a table of two lodgers. The parameter more adds columns, and body is the code of a
// trigger after or before each update.
func lodgers(db *bun.DB, more, body string) []string {
	types := strings.NewReplacer("{blob}", "blob", "{json}", "text", "{more}", more)
	trigger := sqliteTrigger("AFTER UPDATE OF email", "lodgers", body)
	if isPostgres(db) {
		types = strings.NewReplacer("{blob}", "bytea", "{json}", "jsonb", "{more}", more)
		trigger = function("BEFORE UPDATE", "lodgers", body+" RETURN NEW;")
	}
	if body == "" {
		trigger = nil
	}
	return slices.Concat([]string{
		types.Replace(lodgerTable),
		"INSERT INTO lodgers (id, email, nick, code, age, born, note, visits, active) VALUES" +
			" (1, 'ann@example.org', 'ann \"the\" ox', 'ABC1', 1234567, '1990-02-03', 'seen', 1, FALSE)," +
			" (2, 'bob@example.org', 'bob the fox', 'ABC2', 7654321, '1980-01-01', 'ann@example.org', 1, FALSE)",
	}, trigger)
}

// set returns the code of a trigger that sets a column of the updated row.
func set(db *bun.DB, column, expression string) string {
	if isPostgres(db) {
		return "NEW." + column + " := " + expression + ";"
	}
	return "UPDATE lodgers SET " + column + " = " + expression + " WHERE id = OLD.id;"
}

// In each case, a trigger or a generated column keeps an erased text in another column of the row. The erasure must
// fail, change nothing, and name the table and the column.
func TestAnErasureFailsIfAnotherColumnOfTheRowKeepsAText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		column, postgres, sqlite string
		more                     string
	}{
		"the text":        {"note", "OLD.email", "OLD.email", ""},
		"a longer text":   {"note", "'was ' || OLD.email", "'was ' || OLD.email", ""},
		"a cleared value": {"note", "'born ' || OLD.born", "'born ' || OLD.born", ""},
		"bytes":           {"data", "convert_to('was ' || OLD.email, 'UTF8')", "CAST(OLD.email AS blob)", ""},
		"a document": {
			"doc", "jsonb_build_object('nick', OLD.nick)", "json_object('nick', OLD.nick)", "",
		},
		"another case":      {"note", "upper(OLD.email)", "upper(OLD.email)", ""},
		"other punctuation": {"note", "replace(OLD.email, '.', ' ')", "replace(OLD.email, '.', ' ')", ""},
		"a large text in another case": {
			"note", "repeat('x', 2000000) || upper(OLD.email)", "hex(zeroblob(1000000)) || upper(OLD.email)", "",
		},
		"a column that another step annotates": {"nick", "OLD.email", "OLD.email", ""},
		"a large text": {
			"note", "repeat('x', 2000000) || OLD.email", "hex(zeroblob(1000000)) || OLD.email", "",
		},
		"a generated column": {
			"shown", "", "", ", spare text DEFAULT 'ann@example.org', shown text GENERATED ALWAYS AS" +
				" (CASE WHEN email LIKE 'anon-%' THEN spare END) STORED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				expression, body := test.sqlite, ""
				if isPostgres(db) {
					expression = test.postgres
				}
				if expression != "" {
					body = set(db, test.column, expression)
				}
				a := open(t, db, app.Config{Models: []any{(*lodger)(nil)}}, lodgers(db, test.more, body)...)
				a.refuseToErase(t, "lodgers", test.column)
			})
		})
	}
}

// inhabitant is a model of a table in which an erasure overwrites every column that can hold a text.
type inhabitant struct {
	bun.BaseModel `bun:"table:inhabitants"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Name          string `bun:"name" pii:"identity,erasure:anonymize"`
}

// A trigger exchanges the two texts. The erasure must overwrite them again.
func TestATextIsErasedAlsoInAnotherColumnThatTheStepOverwrites(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := sqliteTrigger("AFTER UPDATE OF email", "inhabitants",
			"UPDATE inhabitants SET name = OLD.email WHERE id = OLD.id AND OLD.email LIKE '%@%';")
		if isPostgres(db) {
			trigger = function("BEFORE UPDATE", "inhabitants",
				"IF OLD.email LIKE '%@%' THEN NEW.name := OLD.email; END IF; RETURN NEW;")
		}
		a := open(t, db, app.Config{Models: []any{(*inhabitant)(nil)}}, slices.Concat([]string{
			"CREATE TABLE inhabitants (id bigint PRIMARY KEY, email text, name text)",
			"INSERT INTO inhabitants VALUES (1, 'ann@example.org', 'Ann Ox')",
		}, trigger)...)
		if _, err := a.erase(t.Context(), "1"); err != nil {
			t.Errorf("refused: %v", err)
		}
		if left := a.cells(t, "SELECT email, name FROM inhabitants"); strings.Contains(left, "example.org") {
			t.Errorf("left: %s", left)
		}
	})
}

// refuseToErase checks that an erasure of subject 1, a rehearsal and an erasure in a transaction of the application
// fail with the names of a table and a column, and that no row changes.
func (a *application) refuseToErase(t *testing.T, table, column string) {
	t.Helper()
	subject := fixture.MustSubject(t, "1")
	before := a.cells(t, "SELECT id, email, nick, code, age, born, note FROM lodgers ORDER BY id")
	check := func(what string, err error) {
		t.Helper()
		switch {
		case !errors.Is(err, domain.ErrLeftOver) || !strings.Contains(err.Error(), table):
			t.Errorf("%s: got %v (%v)", what, err, errors.Unwrap(err))
		case column != "nick" && !strings.Contains(err.Error(), table+"."+column):
			t.Errorf("%s: %v does not name %s.%s", what, err, table, column)
		case strings.Contains(err.Error(), "example.org"):
			t.Errorf("%s: the error holds a value: %v", what, err)
		}
		if after := a.cells(t, "SELECT id, email, nick, code, age, born, note FROM lodgers ORDER BY id"); after != before {
			t.Errorf("%s: the rows are %s, want %s", what, after, before)
		}
	}
	if column == "nick" { // a repetition of the step removes the copy
		if _, err := a.erase(t.Context(), "1"); err != nil ||
			strings.Contains(a.text(t, "SELECT nick FROM lodgers WHERE id = 1"), "@") {
			t.Errorf("got %v", err)
		}
		return
	}
	_, err := a.erase(t.Context(), "1")
	check("an erasure", err)
	if failures := a.failed(t, "1"); len(failures) != 1 || failures[0]["target"] != table {
		t.Errorf("evidence %v", failures)
	}
	rehearsal, err := a.Operator().Rehearse(t.Context(), subject)
	if err != nil || rehearsal.Refused == nil || !strings.Contains(rehearsal.Refused.Message, table+"."+column) {
		t.Errorf("rehearsed %+v, %v", rehearsal, err)
	}
	check("a joined session", a.joined(t, a.erasing, nil, nil))
}

// These triggers and generated columns change other columns, but keep no erased text that these columns did not hold
// before. Numbers, booleans and short texts do not count.
func TestOtherColumnsOfTheRowMayChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ column, expression, more string }{
		"another text":         {"note", "'erased'", ""},
		"a number":             {"visits", "OLD.age", ""},
		"a boolean":            {"active", "TRUE", ""},
		"a number as a text":   {"note", "CAST(OLD.age AS text)", ""},
		"a short text":         {"note", "OLD.code", ""},
		"the new text":         {"note", "NEW.email", ""},
		"a text of before":     {"spare", "'still ann@example.org'", ", spare text DEFAULT 'ann@example.org'"},
		"an unchanged column":  {"note", "OLD.note", ", spare text DEFAULT 'ann@example.org'"},
		"a generated column":   {"", "", ", shown text GENERATED ALWAYS AS ('to ' || email) STORED"},
		"a large old text":     {"note", "'x'", ", spare text DEFAULT ('{large}ann@example.org')"},
		"a large derived text": {"note", "'{large}'", ""},
	} {
		t.Run(name, func(t *testing.T) {
			large := strings.NewReplacer("{large}", strings.Repeat("x", 1<<20))
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				body := ""
				if test.column != "" {
					body = set(db, test.column, large.Replace(test.expression))
				}
				a := open(t, db, app.Config{Models: []any{(*lodger)(nil)}}, lodgers(db, large.Replace(test.more), body)...)
				for range 2 {
					if _, err := a.erase(t.Context(), "1"); err != nil {
						t.Fatalf("got %v (%v)", err, errors.Unwrap(err))
					}
				}
				if got := a.cells(t, "SELECT email, note FROM lodgers WHERE id = 2"); got != "bob@example.org ann@example.org" {
					t.Errorf("the other lodger is %s", got)
				}
			})
		})
	}
}

// A trigger keeps a part of an erased document, array or blob, or writes the old text into the same column again, in
// another case.
func TestAnErasureFailsIfTheRowKeepsAPartOfAnErasedValue(t *testing.T) {
	t.Parallel()
	type guest struct {
		bun.BaseModel `bun:"table:guests"`
		ID            int64          `bun:"id,pk" subject:"id"`
		Email         string         `bun:"email" pii:"contact,erasure:anonymize"`
		Profile       map[string]any `bun:"profile,type:jsonb" pii:"contact,erasure:anonymize"`
		Phones        []string       `bun:"phones,array" pii:"contact,erasure:anonymize"`
		Raw           []byte         `bun:"raw" pii:"contact,erasure:anonymize"`
		Seen          time.Time      `bun:"seen,type:timestamp" pii:"behavioral,erasure:anonymize"`
	}
	for name, test := range map[string]struct{ column, postgres, sqlite string }{
		"a document":      {"note", "OLD.profile -> 'home' ->> 'city'", "OLD.profile -> 'home' ->> 'city'"},
		"an array":        {"note", "OLD.phones[2]", "OLD.phones ->> 1"},
		"bytes":           {"note", "convert_from(OLD.raw, 'UTF8')", "CAST(OLD.raw AS text)"},
		"an instant":      {"note", "'seen ' || OLD.seen", "'seen ' || OLD.seen"},
		"the same column": {"email", "upper(OLD.email)", "upper(OLD.email)"},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				const row = "INSERT INTO guests VALUES (1, 'ann@example.org', '{\"home\": {\"city\": \"Ravenna\"}}', "
				statements := append([]string{
					"CREATE TABLE guests (id bigint PRIMARY KEY, email text, profile text, phones text, raw blob, seen timestamp," +
						" note text)",
					row + "'[\"12\", \"030 123456\"]', CAST('ann the ox' AS blob), '2020-01-02 03:04:05', 'x')",
				}, sqliteTrigger("AFTER UPDATE", "guests",
					"UPDATE guests SET "+test.column+" = "+test.sqlite+" WHERE id = OLD.id;")...)
				if isPostgres(db) {
					statements = append([]string{
						"CREATE TABLE guests (id bigint PRIMARY KEY, email text, profile jsonb, phones text[], raw bytea," +
							" seen timestamp, note text)",
						row + "ARRAY['12', '030 123456'], 'ann the ox', '2020-01-02 03:04:05', 'x')",
					}, function("BEFORE UPDATE", "guests", "NEW."+test.column+" := "+test.postgres+"; RETURN NEW;")...)
				}
				a := open(t, db, app.Config{Models: []any{(*guest)(nil)}}, statements...)
				_, err := a.erase(t.Context(), "1")
				if !errors.Is(err, domain.ErrLeftOver) || !strings.Contains(err.Error(), "guests") {
					t.Errorf("got %v (%v)", err, errors.Unwrap(err))
				}
				if got := a.cells(t, "SELECT email, note FROM guests"); got != "ann@example.org x" {
					t.Errorf("the row is %s", got)
				}
			})
		})
	}
}

// A retained value whose duty has ended is erased by a sweep. A trigger keeps it in another column of the row, so the
// sweep must fail.
func TestASweepFailsIfAnotherColumnOfTheRowKeepsAText(t *testing.T) {
	t.Parallel()
	type contract struct {
		bun.BaseModel `bun:"table:contracts"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
		Address       string    `bun:"address" pii:"location,erasure:retain,reason:'tax law',retain:10y,since:signed_at"`
		SignedAt      time.Time `bun:"signed_at"`
		Note          string    `bun:"note"`
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := sqliteTrigger("AFTER UPDATE OF address", "contracts",
			"UPDATE contracts SET note = OLD.address WHERE id = OLD.id AND address <> OLD.address;")
		if isPostgres(db) {
			trigger = function("BEFORE UPDATE OF address", "contracts",
				"IF NEW.address <> OLD.address THEN NEW.note := OLD.address; END IF; RETURN NEW;")
		}
		clock := fixture.NewClock(time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC))
		a := open(t, db, app.Config{Models: []any{(*contract)(nil)}, Clock: clock}, slices.Concat([]string{
			"CREATE TABLE contracts (id bigint PRIMARY KEY, email text, address text, signed_at timestamp, note text)",
			"INSERT INTO contracts VALUES (1, 'ann@example.org', 'Long Street 1', '2020-01-01 00:00:00', 'x')",
		}, trigger)...)
		_, err := a.erase(t.Context(), "1")
		must(t, err)
		clock.Advance(30 * 366 * 24 * time.Hour)
		_, err = a.Operator().Sweep(t.Context(), nil)
		if !errors.Is(err, domain.ErrLeftOver) || !strings.Contains(err.Error(), "contracts.note") {
			t.Errorf("got %v", err)
		}
		if got := a.cells(t, "SELECT address, note FROM contracts"); got != "Long Street 1 x" {
			t.Errorf("the row is %s", got)
		}
	})
}
