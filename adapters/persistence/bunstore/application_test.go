package bunstore_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// application is a test application with its own tables, and a store that exports and erases the rows of these tables.
// It has no services of habeas, because its tests check only the values of columns.
type application struct {
	db    *bun.DB
	store *bunstore.Store
	plan  datamap.Plan
}

// newApplication creates the tables of habeas and of the models, and returns the application. The first model must be
// the model of the subject's table.
func newApplication(t testing.TB, db *bun.DB, custom bunmodels.Types, models ...any) *application {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	databases.Create(t, db, models...)
	return existingApplication(t, db, custom, models...)
}

func existingApplication(t testing.TB, db *bun.DB, custom bunmodels.Types, models ...any) *application {
	t.Helper()
	dataMap, err := bunmodels.Read(db, models, custom)
	must(t, err)
	store := storeOf(t, db, dataMap, bunstore.Options{})
	plan := planOf(t, dataMap)
	return &application{db, store, plan}
}

// insert inserts rows of the application.
func (a *application) insert(t testing.TB, rows ...any) {
	t.Helper()
	databases.Insert(t, a.db, rows...)
}

func (a *application) export(t testing.TB, id ...string) []domain.ExportRecord {
	t.Helper()
	var records []domain.ExportRecord
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		records = nil
		return s.Subjects().Export(ctx, subjectID(t, id...), func(record domain.ExportRecord) error {
			records = append(records, record)
			return nil
		})
	}))
	return records
}

// values returns the exported values of the subject as JSON, by the names of their columns. If a subject has several
// rows, values returns only the values of the last row.
func (a *application) values(t testing.TB, id ...string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, record := range a.export(t, id...) {
		text, err := json.Marshal(record.Value)
		must(t, err)
		values[record.Field] = string(text)
	}
	return values
}

// erase runs the steps of the erasure plan in the database and returns the number of rows of each step.
func (a *application) erase(t testing.TB, id ...string) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subjectID(t, id...), time.Now()); err != nil {
			return err
		}
		steps := a.plan.Local()
		applied, err := s.Subjects().Apply(ctx, subjectID(t, id...), steps)
		for i, n := range applied.Rows {
			rows[string(steps[i].Strategy)+" "+steps[i].Target] = n
		}
		return err
	}))
	return rows
}

var subjectID = fixture.MustID

var execute = databases.Execute

func pointer[T any](value T) *T { return &value }
