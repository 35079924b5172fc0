package subject

import (
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type sqlite struct{}

func (sqlite) erasureInstant(tables syntax.Tables, at, latest string) string {
	return tables.Fill(`max(CAST({at} AS text), COALESCE(({last} WHERE l.erased_at <= {latest}), ''))`,
		"at", at, "latest", latest, "last", tables.Fill(lastErasedAt))
}

// markInstant returns the parameters of the instant of an erasure. The clock of the database is that of the machine,
// because all processes that use the file run on it. The second parameter is the latest instant of the last mark that
// the erasure must not precede.
func (sqlite) markInstant(at time.Time, exact bool) [2]any {
	clock := time.Now()
	instant := domain.ErasureInstant(at, clock, time.Time{})
	if exact || !instant.Equal(domain.Instant(clock)) {
		return [2]any{syntax.SQLite.Instant(at), ""}
	}
	return [2]any{syntax.SQLite.Instant(instant), syntax.SQLite.Instant(clock.Add(domain.MaxClockError))}
}

func (sqlite) intakeParts(tables syntax.Tables) (column, number, lockCondition string) {
	return ", intake", tables.Fill(`, (SELECT max(intake_floor,
			COALESCE((SELECT max(intake) FROM {erasures} WHERE erasures > 0), 0)) + 1 FROM {installation})`), "TRUE"
}

func (sqlite) settledIntake(syntax.Tables) string { return "" }

func (sqlite) transaction() string { return "" }

// exportedValue returns the column with a unary plus. The plus keeps the value and removes the declared type. Without
// the plus, drivers convert values of the result column by that type. JSONB, which is a blob, becomes a JSON text.
func (sqlite) exportedValue(column domain.Column) string {
	value := "+t0." + syntax.Quote(column.Name)
	if column.Type == domain.TypeJSON || column.Type == domain.TypeArray {
		return syntax.Fill("CASE WHEN typeof({value}) = 'blob' AND json_valid({value}, 8) THEN json({value}) ELSE {value} END",
			"value", value)
	}
	return value
}

func (sqlite) fromExported(_ domain.ColumnType, value any) any { return value }

// storedJSON returns a number if the document is a number, because a JSON column has the affinity NUMERIC in SQLite.
func (sqlite) storedJSON(document string) any {
	if n, err := strconv.ParseFloat(document, 64); err == nil {
		return n
	}
	return document
}
