// Package cookbook runs the recipes of docs/cookbook.md. That page shows parts of these files unchanged.
package cookbook_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// prepare creates the tables of habeas and of the application. Each step is a model whose table it creates, or an SQL
// statement that is executed.
func prepare(t *testing.T, db *bun.DB, steps ...any) {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	for _, step := range steps {
		if statement, ok := step.(string); ok {
			databases.Execute(t, db, statement)
		} else {
			databases.Create(t, db, step)
		}
	}
}

var insert = databases.Insert

// erasing exports and erases a subject. It returns a text with the rows of the tables before the erasure, the exported
// records, and the rows of the tables after the erasure.
func erasing(t *testing.T, db *bun.DB, gdpr *app.Integration, subject domain.Subject, tables ...string) string {
	t.Helper()
	var story strings.Builder
	shelve(t, &story, "before", db, tables)
	for _, record := range exported(t, gdpr, subject).Records {
		fmt.Fprintf(&story, "exported  %s.%s = %s\n", record.Source, record.Field, shown(record.Value))
	}
	_, err := gdpr.Operator().Erase(t.Context(), subject)
	must(t, err)
	shelve(t, &story, "after", db, tables)
	return story.String()
}

func exported(t *testing.T, gdpr *app.Integration, subject domain.Subject) (bundle domain.ExportBundle) {
	t.Helper()
	must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		bundle, err = gdpr.Stack().Exporter.Export(ctx, s, subject)
		return err
	}))
	return bundle
}

func shelve(t *testing.T, story *strings.Builder, when string, db *bun.DB, tables []string) {
	t.Helper()
	for _, table := range tables {
		for _, row := range rowsOf(t, db, table) {
			fmt.Fprintf(story, "%-8s  %s: %s\n", when, table, row)
		}
	}
}

// rowsOf returns each row of a table as a text, ordered by the first two columns.
func rowsOf(t *testing.T, db *bun.DB, table string) (texts []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM ? ORDER BY 1, 2", bun.Ident(table))
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		must(t, rows.Scan(targets...))
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = column + "=" + shown(values[i])
		}
		texts = append(texts, strings.Join(cells, ", "))
	}
	must(t, rows.Err())
	if texts == nil {
		return []string{"no rows"}
	}
	return texts
}

var digits = regexp.MustCompile(`[0-9a-f]{32}`)

// shown formats a value as text. It replaces the random digits of a surrogate by an ellipsis.
func shown(value any) string {
	switch value := value.(type) {
	case nil:
		return "NULL"
	case time.Time:
		return value.UTC().Format(time.DateOnly)
	case []byte:
		return shown(string(value))
	case string:
		return digits.ReplaceAllString(value, "…")
	}
	return fmt.Sprint(value)
}

// expectText fails unless the text equals the text on the page of the cookbook.
func expectText(t *testing.T, got, want string) {
	t.Helper()
	if got, want := lines(got), lines(want); got != want {
		t.Errorf("got:\n%s\n\nwant:\n%s", got, want)
	}
}

func lines(text string) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range all {
		all[i] = strings.TrimSpace(line)
	}
	return strings.Join(all, "\n")
}

var subject = fixture.MustSubject

var must = fixture.Must
