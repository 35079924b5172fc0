package bunstore_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// A trigger writes into rows of other tables of the data map.
var besidesCases = map[string]struct {
	event, table, body string
	rows               []string // before the erasure
	found              string   // the column in which an old text is found, or ""
	cascaded           map[string]int64
}{
	"a deleted text in a new row of another person": {
		"DELETE", "articles", "INSERT INTO remarks VALUES (OLD.id, 2, NULL, NULL, 'was: ' || OLD.title);", nil,
		"remarks.body", nil,
	},
	"an overwritten text in a row of another person": {
		"UPDATE", "members", "UPDATE remarks SET body = 'by ' || OLD.email WHERE id = 100;", nil, "remarks.body", nil,
	},
	"an overwritten text in a retained row of the person": {
		"UPDATE", "members", "UPDATE receipts SET amount = OLD.email WHERE id = 200;", nil, "receipts.amount", nil,
	},
	"a row of another person that held the text before": {
		"DELETE", "articles", "UPDATE remarks SET article_id = NULL WHERE id = 100;",
		[]string{"UPDATE remarks SET body = 'I like Cats are great'"},
		"",
		map[string]int64{"remarks": 1},
	},
	"a counter of another person": {
		"DELETE", "articles", "UPDATE remarks SET parent_id = COALESCE(parent_id, 0) + 1 WHERE id IN (100, 101);", nil, "",
		map[string]int64{"remarks": 2},
	},
	"a new row without an old text": {
		"DELETE", "articles", "INSERT INTO remarks VALUES (OLD.id, 2, NULL, NULL, 'one article less');", nil, "", nil,
	},
	"a new row and a counter": {
		"DELETE", "articles", "INSERT INTO remarks VALUES (OLD.id, 2, NULL, NULL, 'one less');" +
			" UPDATE remarks SET parent_id = 1 WHERE id = 100;", nil, "", map[string]int64{"remarks": 1},
	},
}

func eraseAnn(t *testing.T, sessions ports.SessionFactory, eraser *erasure.Eraser) (domain.ErasureResult, error) {
	t.Helper()
	var result domain.ErasureResult
	err := sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		result, err = eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, "1")})
		return err
	})
	return result, err
}

func TestTextsThatATriggerWritesIntoOtherRowsAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range besidesCases {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				f := forum{rows: append([]string{
					"UPDATE articles SET title = 'Cats are great' WHERE id = 10",
					"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs'), (101, 2, 20, NULL, 'theirs')",
					"INSERT INTO receipts VALUES (200, 1, NULL, '5')",
				}, append(c.rows, "TRIGGER "+c.event+" "+c.table+" "+c.body)...)}.forDatabase(db.Dialect().Name())
				f.create(t, db)
				store, eraser := f.eraser(t, db)
				result, err := eraseAnn(t, store, eraser)
				if c.found == "" {
					if err != nil || !maps.Equal(result.Cascaded, c.cascaded) {
						t.Errorf("got %v, %v", result.Cascaded, err)
					}
				} else if kept := errors.Is(err, domain.ErrConflict) && strings.Contains(err.Error(),
					c.found+": a trigger"); !kept &&
					(!errors.Is(err, domain.ErrLeftOver) || !strings.Contains(err.Error(), c.found+": holds a text")) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// The application has written the erased text into a row of another person, in the same transaction but before.
func TestTextsThatTheApplicationHasWrittenBeforeAreNotFound(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		f := forum{rows: []string{
			"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs'), (101, 2, 20, NULL, 'theirs')",
			onChange("members", "UPDATE remarks SET parent_id = 1 WHERE id = 100;"),
		}}.forDatabase(db.Dialect().Name())
		f.create(t, db)
		store, eraser := f.eraser(t, db)
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		defer func() { _ = tx.Rollback() }()
		execute(t, tx, "UPDATE remarks SET body = 'mail to ann@example.com' WHERE id = 101",
			"SAVEPOINT s", "INSERT INTO remarks VALUES (102, 2, 20, NULL, 'mail to ann@example.com')", "RELEASE SAVEPOINT s")
		joined, err := store.Join(tx)
		must(t, err)
		result, err := eraseAnn(t, joined, eraser)
		if err != nil || !maps.Equal(result.Cascaded, map[string]int64{"remarks": 1}) {
			t.Errorf("got %v, %v", result.Cascaded, err)
		}
	})
}

// The counters of written rows are switched off in the database: all tables are searched.
func TestTextsInOtherRowsAreFoundIfTheDatabaseDoesNotCountThem(t *testing.T) {
	t.Parallel()
	driver := databases.Driver{Name: "PostgreSQL", SQL: "pgx"}
	url := driver.NewDatabase(t)
	db := driver.Open(t, url)
	f := forum{rows: []string{
		"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')",
		onChange("members", "UPDATE remarks SET body = OLD.email WHERE id = 100;"),
	}}.forDatabase(dialect.PG)
	f.create(t, db)
	execute(t, db, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET track_counts = off', current_database()); END $$")
	store, eraser := f.eraser(t, driver.Open(t, url))
	if _, err := eraseAnn(t, store, eraser); !errors.Is(err, domain.ErrLeftOver) {
		t.Errorf("got %v", err)
	}
}

// The erasure leaves nothing behind on the connection, and works a second time.
func TestNotedRowsAreForgotten(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	f := forum{rows: []string{
		"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')",
		onChange("members", "UPDATE remarks SET parent_id = 1 WHERE id = 100;"),
	}}.forDatabase(dialect.SQLite)
	f.create(t, db)
	store, eraser := f.eraser(t, db)
	for range 2 {
		result, err := eraseAnn(t, store, eraser)
		if err != nil || result.Cascaded["remarks"] != 1 {
			t.Errorf("got %v, %v", result.Cascaded, err)
		}
	}
	var left int
	must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_temp_master").Scan(&left))
	if left != 0 {
		t.Errorf("%d temporary objects are left", left)
	}
}

func TestACorrectionThatDeletesRowsOfOtherPeopleIsRefused(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		f := forum{rows: []string{
			"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')",
			onChange("members", "DELETE FROM remarks WHERE id = 100;"),
		}}.forDatabase(db.Dialect().Name())
		f.create(t, db)
		store, _ := f.eraser(t, db)
		err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Rectify(ctx, subjectID(t, "1"), domain.RectificationStep{
				Table: "members", Values: []domain.ColumnValue{{Column: "email", Value: "new@example.com"}},
			})
			return err
		})
		const want = "remarks: the database would delete further rows (1)"
		if !errors.Is(err, domain.ErrConflict) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	})
}

// A correction of the address passes the foreign key, also into a retained column.
func TestACorrectionPassesAForeignKey(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		f := updateCases["a retained column that follows"].forum
		f.create(t, db)
		store, _ := f.eraser(t, db)
		must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Rectify(ctx, subjectID(t, "1"), domain.RectificationStep{
				Table: "members", Values: []domain.ColumnValue{{Column: "email", Value: "new@example.com"}},
			})
			return err
		}))
		var amount string
		must(t, db.QueryRowContext(t.Context(), "SELECT amount FROM receipts").Scan(&amount))
		if amount != "new@example.com" {
			t.Errorf("the row has %q", amount)
		}
	})
}
