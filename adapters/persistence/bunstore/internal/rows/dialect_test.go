package rows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// A statement of an erasure reads the start of a duty for each retained column.
func TestSQLiteReadsTheStartOfADutyInFewInstructions(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	kept := fixture.Contact("kept", domain.StrategyRetain)
	kept.Personal.Reason, kept.Personal.Retain, kept.Personal.Since = "a law", datamap.Period{Years: 1}, "at"
	table := fixture.Users()
	table.Columns = append(table.Columns, datamap.Column{Name: "at", Type: datamap.TypeTime}, kept)
	w := rows.NewWriter(syntax.SQLite, fixture.MustMap(t, table), syntax.Tables{})
	ended := w.StepWriter(table, nil, 0).IsOverwritten("kept", datamap.Step{At: time.Now()})
	start := strings.NewReplacer("$1", "NULL", "$2", "NULL").Replace(ended)
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
