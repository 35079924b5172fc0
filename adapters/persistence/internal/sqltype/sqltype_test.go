package sqltype_test

import (
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

func TestDeclaredTypesAreKnownByTheirNames(t *testing.T) {
	for declared, want := range map[string]struct {
		columnType domain.ColumnType
		length     int
	}{
		"character varying(40)":          {domain.TypeText, 40},
		"CHARACTER":                      {domain.TypeText, 1},
		" text ":                         {domain.TypeText, 0},
		"extensions.citext":              {domain.TypeText, 0},
		"numeric(3,-1)":                  {domain.TypeNumber, 0},
		"numeric(12, 4)":                 {domain.TypeNumber, 0},
		"timestamp(3) without time zone": {domain.TypeTime, 0},
		"timestamp with time zone":       {domain.TypeTime, 0},
		"character varying(40)[]":        {domain.TypeArray, 0},
		`public."Mood"[]`:                {domain.TypeArray, 0},
		"time without time zone":         {},
		"mood":                           {},
		"":                               {},
	} {
		if columnType, length := sqltype.Parse(declared); columnType != want.columnType || length != want.length {
			t.Errorf("%q is %q (%d), want %v", declared, columnType, length, want)
		}
	}
}
