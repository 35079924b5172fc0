package plan_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

func TestAValueThatAnErasureDoesNotWriteIsLeftOver(t *testing.T) {
	const hex = "0123456789abcdef0123456789abcdef"
	column := func(kind datamap.ColumnType, length int, surrogate string) datamap.Column {
		return datamap.Column{Type: kind, Length: length, Surrogate: surrogate, Personal: &datamap.Annotation{
			Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
		}}
	}
	nulled := column(datamap.TypeText, 0, "")
	nulled.Personal.Strategy = domain.StrategyNull
	for name, c := range map[string]struct {
		column datamap.Column
		value  any
		left   bool
	}{
		"NULL":                      {column(datamap.TypeText, 0, ""), nil, false},
		"an empty text":             {column(datamap.TypeText, 0, ""), "", false},
		"a text":                    {column(datamap.TypeText, 0, ""), "zoe", true},
		"a surrogate":               {column(datamap.TypeText, 0, ""), "anon-" + hex, false},
		"a surrogate that is cut":   {column(datamap.TypeText, 20, ""), "anon-" + hex[:15], false},
		"one of another length":     {column(datamap.TypeText, 20, ""), "anon-" + hex, true},
		"digits in a short column":  {column(datamap.TypeText, 10, ""), "0612345678", false}, // hexadecimal digits only
		"a number in it":            {column(datamap.TypeText, 10, ""), "06 1234567", true},
		"a constant":                {column(datamap.TypeText, 0, "gone"), "gone", false},
		"a constant with digits":    {column(datamap.TypeText, 0, "{}@x.invalid"), hex + "@x.invalid", false},
		"another constant":          {column(datamap.TypeText, 0, "gone"), "anon-" + hex, true},
		"a value that goes to NULL": {nulled, "anon-" + hex, true},
		"0":                         {column(datamap.TypeInteger, 0, ""), int64(0), false},
		"1":                         {column(datamap.TypeInteger, 0, ""), int64(1), true},
		"false":                     {column(datamap.TypeBoolean, 0, ""), false, false},
		"true":                      {column(datamap.TypeBoolean, 0, ""), true, true},
		"a random UUID":             {column(datamap.TypeUUID, 0, ""), "f47ac10b-58cc-4372-a567-0e02b2c3d479", false},
		"a UUID of time":            {column(datamap.TypeUUID, 0, ""), "6ba7b810-9dad-11d1-80b4-00c04fd430c8", true},
		"1970":                      {column(datamap.TypeTime, 0, ""), time.Unix(0, 0).UTC(), false},
		"a birthday":                {column(datamap.TypeTime, 0, ""), time.Unix(1, 0).UTC(), true},
		"no bytes":                  {column(datamap.TypeBytes, 0, ""), []byte{}, false},
		"bytes":                     {column(datamap.TypeBytes, 0, ""), []byte{0}, true},
		"not annotated":             {datamap.Column{Type: datamap.TypeText}, "zoe", true},
	} {
		if got := plan.IsLeftOver(c.column, c.value); got != c.left {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLeftoversAreCountedByTableAndColumn(t *testing.T) {
	found := domain.Leftovers{}.Add("orders", "", 2).Add("users", "email", 0).Add("users", "email", 1).
		Add("orders", "note", 1).Add("orders", "", 3)
	fixture.WantJSON(t, found, `[{"table": "orders", "rows": 5}, {"table": "users", "column": "email", "rows": 1},
		{"table": "orders", "column": "note", "rows": 1}]`)
	id := fixture.MustID(t, "42")
	noon := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	fixture.WantJSON(t, domain.Verification{SubjectID: id, ErasedAt: noon, VerifiedAt: noon, LeftOver: domain.Leftovers{}},
		`{"subject_id": "42", "erased_at": "2024-03-01T12:00:00Z", "verified_at": "2024-03-01T12:00:00Z", "left_over": []}`)
}
