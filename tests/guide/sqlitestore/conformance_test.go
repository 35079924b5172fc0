package sqlitestore_test

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
	"github.com/habeas-data/habeas/tests/guide/sqlitestore"
)

//go:embed testdata/shop.sql
var shop string

func TestConformance(t *testing.T) {
	porttest.TestStore(t, porttest.StoreHarness{
		Open: open,
		Waive: map[string]string{
			"outbox claims do not wait for each other": "an SQLite database takes one writer at a time",
		},
	})
}

func open(t testing.TB) porttest.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "shop.db"))
}

// openAt makes the shop in a file, and a store on it.
func openAt(t testing.TB, path string) porttest.Store {
	t.Helper()
	store := openStore(t, path)
	must(t, store.CreateTables(context.Background()))
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)")
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	exec := func(query string, args ...any) error {
		_, err := db.ExecContext(context.Background(), query, args...)
		return err
	}
	must(t, exec(shop))
	return porttest.Store{
		Sessions: store,
		Insert:   func(t testing.TB, table string, row porttest.Row) { t.Helper(); insert(t, exec, table, row) },
		Rows:     func(t testing.TB, table string) []porttest.Row { t.Helper(); return rows(t, db, table) },
		Unreachable: func(t testing.TB) ports.SessionFactory {
			t.Helper()
			return openStore(t, filepath.Join(t.TempDir(), "no such directory", "shop.db"))
		},
		Tamper: func(_ testing.TB, eventID string) (change, remove error) {
			return exec(`UPDATE habeas_events SET payload = '{}' WHERE event_id = ?`, eventID),
				exec(`DELETE FROM habeas_events WHERE event_id = ?`, eventID)
		},
		Statements:  store.Statements,
		Connections: store.Connections,
		Erased:      func(t testing.TB, id domain.SubjectID) (time.Time, bool) { t.Helper(); return erased(t, db, id) },
		Entries: func(t testing.TB) []domain.OutboxEntry {
			t.Helper()
			entries, err := store.Entries(context.Background())
			must(t, err)
			return entries
		},
	}
}

func openStore(t testing.TB, path string) *sqlitestore.Store {
	t.Helper()
	store, err := sqlitestore.Open(path, porttest.DataMap())
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return store
}

const layout = "2006-01-02T15:04:05.000000Z"

// insert adds a row as the application would.
func insert(t testing.TB, exec func(string, ...any) error, table string, row porttest.Row) {
	t.Helper()
	var columns []string
	var values []any
	for column, value := range row {
		switch typed := value.(type) {
		case time.Time:
			value = typed.UTC().Format(layout)
		case domain.JSON:
			value = string(typed)
		}
		columns, values = append(columns, column), append(values, value)
	}
	must(t, exec(`INSERT INTO `+table+` (`+strings.Join(columns, ", ")+`) VALUES (?`+
		strings.Repeat(", ?", len(values)-1)+`)`, values...))
}

// rows reads rows as the application would.
func rows(t testing.TB, db *sql.DB, name string) (found []porttest.Row) {
	t.Helper()
	table, _ := porttest.DataMap().Table(name)
	result, err := db.QueryContext(context.Background(),
		`SELECT * FROM `+name+` ORDER BY `+strings.Join(table.PrimaryKey, ", "))
	must(t, err)
	defer result.Close()
	columns, err := result.Columns()
	must(t, err)
	for result.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range into {
			into[i] = &values[i]
		}
		must(t, result.Scan(into...))
		row := porttest.Row{}
		for i, column := range columns {
			described, _ := table.Column(column)
			row[column] = asRow(t, described.Type, values[i])
		}
		found = append(found, row)
	}
	must(t, result.Err())
	return found
}

// asRow is a value as porttest.Row has it. A value of any other form than its column's fails the test.
func asRow(t testing.TB, kind domain.ColumnType, value any) any {
	t.Helper()
	if value == nil {
		return nil
	}
	switch kind { //nolint:exhaustive // the others are as they come
	case domain.TypeBoolean:
		n, ok := value.(int64)
		if !ok || !slices.Contains([]int64{0, 1}, n) {
			t.Fatal("a boolean is neither 0 nor 1")
		}
		return n == 1
	case domain.TypeTime:
		text, _ := value.(string)
		at, err := time.Parse(layout, text)
		must(t, err)
		return at
	case domain.TypeJSON:
		text, _ := value.(string)
		return domain.JSON(text)
	case domain.TypeBytes:
		raw, _ := value.([]byte)
		return append([]byte{}, raw...) // the driver makes nil of what is empty
	}
	return value
}

// erased reads the mark of erasures.
func erased(t testing.TB, db *sql.DB, id domain.SubjectID) (last time.Time, marked bool) {
	t.Helper()
	var text string
	err := db.QueryRowContext(context.Background(),
		`SELECT erased_at FROM habeas_erasures WHERE subject = ?`, id.String()).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return last, false
	}
	must(t, err)
	last, err = time.Parse(layout, text)
	must(t, err)
	return last, true
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
