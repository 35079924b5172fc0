package sqltext

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type sqlite struct{}

func (sqlite) transaction() string { return "" }

// no other transaction can write

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
