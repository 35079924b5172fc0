package sqltext

import (
	"encoding/hex"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type postgres struct{}

func (postgres) transaction() string {
	return `
		SELECT current_setting('transaction_isolation'), EXISTS (SELECT 1 FROM pg_catalog.pg_trigger AS t
			WHERE t.tgdeferrable AND NOT t.tgisinternal AND t.tgenabled <> 'D')`
}

// exportedValue converts every value to text, so that the session's settings for the formats of times and bytes have no
// effect.
func (postgres) exportedValue(column domain.Column) string {
	name := "t0." + syntax.Quote(column.Name)
	switch column.Type { //nolint:exhaustive // the other types have a single text form
	case domain.TypeText: // as clients receive the text; CAST would pad or strip the texts of some types
		return "CASE WHEN " + name + " IS NOT NULL THEN concat(" + name + ") END"
	case domain.TypeTime: // to_json also accepts a text column
		return "to_json(" + name + ") #>> '{}'"
	case domain.TypeBytes:
		return "encode(" + name + ", 'hex')"
	case domain.TypeArray:
		name = "to_json(" + name + ")"
	}
	return "CAST(" + name + " AS text)"
}

func (postgres) fromExported(t domain.ColumnType, value any) any {
	if t == domain.TypeBytes {
		if decoded, err := hex.DecodeString(syntax.Text(value)); err == nil {
			return decoded
		}
	}
	return value
}
