package schemas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

type login struct {
	bun.BaseModel `bun:"table:logins"`
	ID            int64   `bun:"id,pk"`
	PersonID      int64   `bun:"person_id"`
	Person        *person `bun:"rel:belongs-to,join:person_id=id"`
	IP            string  `bun:"ip" pii:"technical"`
}

// The table "logins" may have a column that is not in the data map. An erasure must not delete rows of such a table,
// because the column may have other data, such as an invoice.
func TestARowIsNotDeletedTogetherWithColumnsThatTheDataMapDoesNotHave(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		table    string
		says     string // the column in the error, or "" if the row may be deleted
		postgres bool   // only on PostgreSQL
	}{
		"all columns": {table: "logins (id bigint PRIMARY KEY, person_id bigint, ip text)"},
		"another column": {
			table: "logins (id bigint PRIMARY KEY, person_id bigint, ip text, invoice text)", says: "logins.invoice",
		},
		"a generated column": {table: "logins (id bigint PRIMARY KEY, person_id bigint, ip text, network text" +
			" GENERATED ALWAYS AS (substr(ip, 1, 3)) STORED)"},
		"a view of a part": {
			table: "all_logins (id bigint PRIMARY KEY, person_id bigint, ip text, invoice text)", says: "logins.invoice",
			postgres: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				if test.postgres && !isPostgres(db) {
					return
				}
				statements := []string{"CREATE TABLE people (id bigint PRIMARY KEY, email text)", "CREATE TABLE " + test.table}
				table := strings.Fields(test.table)[0]
				if table != "logins" {
					statements = append(statements, "CREATE VIEW logins AS SELECT id, person_id, ip FROM "+table)
				}
				statements = append(statements, "INSERT INTO people VALUES (1, 'a')",
					"INSERT INTO "+table+" (id, person_id, ip) VALUES (1, 1, 'x')")
				a := open(t, db, app.Config{Models: []any{(*person)(nil), (*login)(nil)}}, statements...)
				_, err := a.erase(t.Context(), "1")
				if test.says == "" {
					if err != nil || a.count(t, "SELECT count(*) FROM "+table) > 0 {
						t.Errorf("got %v (%v)", err, errors.Unwrap(err))
					}
					return
				}
				failures := a.failed(t, "1")
				if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), test.says) ||
					a.count(t, "SELECT count(*) FROM "+table) != 1 ||
					len(failures) != 1 || failures[0]["target"] != "logins" {
					t.Errorf("got %v, %v", err, failures)
				}
			})
		})
	}
}

// After the first erasure, a migration adds a column to a table. The next erasure in the same process must notice the
// column.
func TestAColumnThatAMigrationAddsIsNoticed(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: []any{(*person)(nil), (*login)(nil)}},
			"CREATE TABLE people (id bigint PRIMARY KEY, email text)",
			"CREATE TABLE logins (id bigint PRIMARY KEY, person_id bigint, ip text)",
			"INSERT INTO people VALUES (1, 'a'), (2, 'a')", "INSERT INTO logins VALUES (1, 1, 'x'), (2, 2, 'x')")
		_, err := a.erase(t.Context(), "1")
		must(t, err)
		execute(t, db, "ALTER TABLE logins ADD COLUMN invoice text")
		if _, err := a.erase(t.Context(), "2"); !errors.Is(err, domain.ErrManifest) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRetentionThatIsOverIsNoReason(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		for _, column := range []string{"timestamptz", "timestamp", "date"} {
			if !isPostgres(db) && column != "timestamp" {
				continue
			}
			t.Run(column, func(t *testing.T) {
				execute(t, db, "DROP TABLE IF EXISTS accounts")
				a := open(t, db, app.Config{Models: []any{(*account)(nil)}},
					"CREATE TABLE accounts (id bigint PRIMARY KEY, email text, address text, number text, issued_at "+column+")")
				now := time.Now()
				for id, issued := range map[int64]time.Time{1: now.AddDate(-11, 0, 0), 2: now.AddDate(-9, 0, 0)} {
					databases.Insert(t, db, &account{ID: id, Email: "e", Address: "Street", Number: "N", IssuedAt: issued})
				}
				execute(t, db, "INSERT INTO accounts VALUES (3, 'e', 'Street', 'N', NULL)")
				for id, want := range map[string]string{"1": "anon-", "2": "Street", "3": "Street"} {
					for range 2 {
						result, err := a.erase(t.Context(), id)
						must(t, err)
						if result.Anonymized["accounts"] != 1 || result.Retained["accounts"] != 1 {
							t.Errorf("%s: %+v", id, result)
						}
					}
					if got := a.text(t, "SELECT address FROM accounts WHERE id = "+id); !strings.HasPrefix(got, want) {
						t.Errorf("%s has %s", id, got)
					}
					if got := a.text(t, "SELECT number FROM accounts WHERE id = "+id); got != "N" {
						t.Errorf("%s has the number %s", id, got)
					}
				}
			})
		}
	})
}

// A retention period may begin at an infinite instant of PostgreSQL, or at an instant that Go or JSON cannot represent.
// An erasure overwrites the value if the instant is far in the past, and keeps it if the instant is in the future.
func TestRetentionFromAnInfiniteInstant(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"timestamptz", "timestamp", "date", "text"} {
		t.Run(column, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: []any{(*account)(nil)}},
				"CREATE TABLE accounts (id bigint PRIMARY KEY, email text, address text, number text, issued_at "+column+")",
				"INSERT INTO accounts SELECT id, 'e', 'Street', 'N', CAST(issued AS "+column+") FROM (VALUES"+
					" (1, '-infinity'), (2, 'infinity'), (3, '0044-03-15 BC'), (4, '0001-01-01'), (5, '12000-01-01'))"+
					" AS v(id, issued)")
			for id, over := range map[string]bool{"1": true, "2": false, "3": true, "4": true, "5": false} {
				result, err := a.erase(t.Context(), id)
				must(t, err)
				if got := a.text(t, "SELECT address FROM accounts WHERE id = "+id); (got != "Street") != over {
					t.Errorf("%s has %s, %+v", id, got, result)
				}
			}
		})
	}
}

// By default, SQLite keeps the bytes of deleted values in its file. During an erasure, the store turns on the pragma
// secure_delete, which overwrites these bytes.
func TestSQLiteOverwritesErasedValuesInItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	db := databases.Driver{Name: "SQLite", SQL: "sqlite"}.Open(t,
		"file:"+path+"?_pragma=journal_mode(delete)&_pragma=foreign_keys(1)&_pragma=busy_timeout(10000)")
	a := open(t, db, app.Config{Models: shop, Resolvers: []ports.Resolver{&system{}}}, shopTables()...)
	secret := "secret-" + strings.Repeat("x", 20)
	execute(t, db, "UPDATE people SET email = '"+secret+"' WHERE id = 1")
	for i := range 20 {
		execute(t, db, fmt.Sprintf("INSERT INTO items VALUES (%d, 10, '%s')", 1000+i, secret))
	}
	_, err := a.erase(t.Context(), "1", domain.SubjectRef{Kind: "crm", Value: "ref-" + secret})
	must(t, err)
	_, err = a.Stack().Runner.RunOnce(t.Context())
	must(t, err)
	contents, err := os.ReadFile(path)
	must(t, err)
	if n := strings.Count(string(contents), secret); n > 0 {
		t.Errorf("the file has the secret %d times", n)
	}
	var mode int
	must(t, db.QueryRowContext(t.Context(), "PRAGMA secure_delete").Scan(&mode))
	if mode == 1 {
		t.Error("the connection was not restored")
	}
}

func TestEraseIsNotLimitedByTheRequestTimeout(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: shop, RequestTimeout: time.Nanosecond}, shopTables()...)
		subject := fixture.MustSubject(t, "1")
		result, err := a.Operator().Erase(context.Background(), subject)
		if err != nil || result.Deleted["items"] != 1 {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}
