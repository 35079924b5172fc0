package datamap_test

import (
	"reflect"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestLeftOutIn(t *testing.T) {
	open, decided := "DECIDE: ", "DECIDED: "
	asked := func(names ...string) (tables []datamap.LeftOut) {
		for _, name := range names {
			tables = append(tables, datamap.LeftOut{Table: name, Note: open})
		}
		return tables
	}
	for note, want := range map[string][]datamap.LeftOut{
		"":                          nil,
		"Tables a, b: No question.": nil,
		"DECIDE: Are tables a, b: of the person?":      nil,
		"DECIDE: Tables a and b belong to somebody.":   nil,
		"DECIDE: Columns a, b: Are they the person's?": nil,
		"DECIDED: Columns look personal (a). Whose: ?": nil,
		"It stays. DECIDED: Tables a: Are they?":       {{Table: "a", Decided: true, Note: decided}},
		"DECIDE: table a, b and c: Are they?":          asked("a", "b", "c"),
		"DECIDE: Tables a (x, y), b.c (and z), : Who?": {
			{Table: "a", Note: open + "x, y"}, {Table: "b.c", Note: open + "and z"},
		},
		"DECIDE: Tables a, b, and c: Are they?": asked("a", "b", "c"),
		`DECIDE: Tables "a, b", s."c and d" (x): Who?`: {
			{Table: "a, b", Note: open}, {Table: "s.c and d", Note: open + "x"},
		},
		"DECIDE: Columns a.x, s.b.y, z: Do they?":        {{Table: "a", Note: open + "x"}, {Table: "s.b", Note: open + "y"}},
		"DECIDED: Tables a: Who? DECIDE: Tables a: Why?": {{Table: "a", Note: decided + " " + open}},
		"DECIDED: Tables a (x): Who? DECIDED: Columns a.y: Why?": {
			{Table: "a", Decided: true, Note: decided + "x " + decided + "y"},
		},
	} {
		if got := datamap.LeftOutIn(note); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", note, got, want)
		}
	}
}
