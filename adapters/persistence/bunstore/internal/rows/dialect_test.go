package rows_test

import (
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// A statement of an erasure reads the start of a duty for each retained column.
func TestSQLiteReadsTheStartOfADutyInFewInstructions(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	start := rows.NewWriter(syntax.SQLite, fixture.MustMap(t, fixture.Users()), syntax.Tables{}).DutyStart("t0.at", "")
	databases.Execute(t, db, "CREATE TABLE t (at)")
	instructions, err := db.QueryContext(t.Context(), "EXPLAIN SELECT "+start+" FROM t AS t0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = instructions.Close() }()
	n := 0
	for instructions.Next() {
		n++
	}
	if err := instructions.Err(); err != nil || n == 0 || n > 1000 {
		t.Errorf("%d instructions, %v", n, err)
	}
}
