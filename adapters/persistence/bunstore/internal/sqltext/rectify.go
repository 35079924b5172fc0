package sqltext

import (
	"strconv"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// ReadBack returns the value of a domain.ColumnValue in the form in which a driver returns the stored value. If drivers
// return different forms, ReadBack returns the text of the value.
func ReadBack(d syntax.Dialect, column domain.Column, value any) any {
	switch value := value.(type) {
	case int64:
		if column.Type == domain.TypeNumber {
			return syntax.Text(value)
		}
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return subjectDialectOf(d).storedJSON(string(value))
	default:
		return value
	}
}

func (postgres) storedJSON(document string) any { return document }

// storedJSON returns a number if the document is a number, because a JSON column has the affinity NUMERIC in SQLite.
func (sqlite) storedJSON(document string) any {
	if n, err := strconv.ParseFloat(document, 64); err == nil {
		return n
	}
	return document
}
