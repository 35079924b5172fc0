package domain_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func TestACorrectionReadsBackFromJSONWithEachDigit(t *testing.T) {
	for text, want := range map[string]domain.Correction{
		`{"table":"users","column":"name","value":"Zoë"}`: {Table: "users", Column: "name", Value: "Zoë"},
		`{"table":"lines","column":"card","row":"7\u001f1","value":9007199254740993}`: {
			Table: "lines", Column: "card", Row: "7\x1f1", Value: json.Number("9007199254740993"),
		},
		`{"category":"contact","all_columns":true,"value":true}`: {Category: "contact", AllColumns: true, Value: true},
		`{"category":"contact","value":null}`:                    {Category: "contact"},
		`{"table":"users","column":"settings","value":{"id":12345678901234567890,"a":[1.50]}}`: {
			Table: "users", Column: "settings", Value: domain.JSON(`{"id":12345678901234567890,"a":[1.50]}`),
		},
		`{"table":"users","column":"settings","value":[1]}`: {Table: "users", Column: "settings", Value: domain.JSON(`[1]`)},
	} {
		var got domain.Correction
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v", text, got, err)
		}
		wantJSON(t, got, text)
	}
	for _, text := range []string{`[]`, `"x"`, `{"table":7}`, `{"value":`} {
		got := domain.Correction{Table: "users"}
		if err := json.Unmarshal([]byte(text), &got); err == nil || got.Table != "users" {
			t.Errorf("%s: got %#v, %v", text, got, err)
		}
	}
	var list []domain.Correction
	if err := json.Unmarshal([]byte(`[{"table":"t","column":"c"},{"category":"contact","value":1}]`), &list); err != nil ||
		len(list) != 2 || list[0].Value != nil || list[1].Value != json.Number("1") {
		t.Errorf("got %#v, %v", list, err)
	}
}

func TestATupleIsSplitByTheNumberOfItsElements(t *testing.T) {
	for _, elements := range [][]string{
		{"7"}, {""}, {`a\b`}, {"a\x1fb"}, {"7", "1"}, {"", ""}, {"x\x1fy", `back\slash`, "z"},
	} {
		canonical := domain.CanonicalTuple(elements)
		got, ok := domain.SplitTuple(canonical, len(elements))
		if !ok || !reflect.DeepEqual(got, elements) {
			t.Errorf("%q: got %q, %v, want %q", canonical, got, ok, elements)
		}
	}
	for canonical, n := range map[string]int{"7": 2, "7\x1f1": 3, "7\x1f1\x1f2": 2, `7\x` + "\x1f1": 2, "": 0, "x": -1} {
		if got, ok := domain.SplitTuple(canonical, n); ok {
			t.Errorf("%q is a tuple of %d: %q", canonical, n, got)
		}
	}
}
