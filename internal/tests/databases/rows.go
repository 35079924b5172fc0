package databases

import (
	"testing"

	"github.com/uptrace/bun"
)

// Create creates the tables of the models, with their foreign keys.
func Create(tb testing.TB, db bun.IDB, models ...any) {
	tb.Helper()
	for _, model := range models {
		if _, err := db.NewCreateTable().Model(model).WithForeignKeys().Exec(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
}

// Insert inserts rows. Each argument is a pointer to a model or to a slice of models.
func Insert(tb testing.TB, db bun.IDB, rows ...any) {
	tb.Helper()
	for _, row := range rows {
		if _, err := db.NewInsert().Model(row).Exec(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
}

// Execute executes statements.
func Execute(tb testing.TB, db bun.IDB, statements ...string) {
	tb.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(tb.Context(), statement); err != nil {
			tb.Fatalf("%v: %s", err, statement)
		}
	}
}
