package sqltype_test

import (
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain/datamap"
)

func TestDeclaredTypesAreKnownByTheirNames(t *testing.T) {
	for declared, want := range map[string]struct {
		columnType datamap.ColumnType
		length     int
	}{
		"character varying(40)":          {datamap.TypeText, 40},
		"CHARACTER":                      {datamap.TypeText, 1},
		" text ":                         {datamap.TypeText, 0},
		"extensions.citext":              {datamap.TypeText, 0},
		"numeric(3,-1)":                  {datamap.TypeNumber, 0},
		"numeric(12, 4)":                 {datamap.TypeNumber, 0},
		"timestamp(3) without time zone": {datamap.TypeTime, 0},
		"timestamp with time zone":       {datamap.TypeTime, 0},
		"character varying(40)[]":        {datamap.TypeArray, 0},
		`public."Mood"[]`:                {datamap.TypeArray, 0},
		"time without time zone":         {},
		"mood":                           {},
		"":                               {},
	} {
		if columnType, length := sqltype.Parse(declared); columnType != want.columnType || length != want.length {
			t.Errorf("%q is %q (%d), want %v", declared, columnType, length, want)
		}
	}
}
