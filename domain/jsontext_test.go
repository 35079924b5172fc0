package domain_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

var extreme = regexp.MustCompile(`[eE][-+]?[0-9]{3}`)

func TestJSONIsTakenByItsGrammar(t *testing.T) {
	pieces := []string{
		"{", "}", "[", "]", ",", ":", `"`, `"a"`, `""`, `\`, `\n`, `\x`, `\u00e9`, `\u00g9`, "0", "-", "1", ".", "e", "E",
		"+", "01",
		"true", "false", "null", "nul", " ", "\t", "\n", "\v", "é", "\x01", `{"a":1}`, "[1,2]", `"a":`, "-0.5e+10",
	}
	rapid.Check(t, func(r *rapid.T) {
		document := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(r, "pieces"), "")
		if extreme.MatchString(document) { // another test covers numbers that are too large for a column
			return
		}
		valid := json.Valid([]byte(document))
		if domain.JSON(document).Storable() != valid {
			t.Fatalf("%q: valid is %v", document, valid)
		}
	})
	for _, document := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -0 , 1.5E-3 , true , null ] , "b" : { } } `, `"\"\\\/\b\f\n\r\té😀"`, `"\ud83d\ude00"`,
	} {
		if !domain.JSON(document).Storable() {
			t.Errorf("%s was refused", document)
		}
	}
}

func TestEveryDocumentOfGoIsTaken(t *testing.T) {
	text := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 }))
	scalar := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), func(f float64) any { return f }),
		rapid.Just[any](nil),
	)
	nested := func(inner *rapid.Generator[any]) *rapid.Generator[any] {
		return rapid.OneOf(inner,
			rapid.Map(rapid.SliceOfN(inner, 0, 3), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(text, inner, 0, 3), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(r *rapid.T) {
		document, err := json.Marshal(nested(nested(nested(scalar))).Draw(r, "document"))
		if err != nil {
			t.Fatal(err)
		}
		if !domain.JSON(string(document)).Storable() {
			t.Fatalf("%s was refused", document)
		}
	})
}

// Storable must refuse these documents. Otherwise a database may refuse them in the middle of a rectification.
func TestJSONThatPostgreSQLCannotStoreIsRefused(t *testing.T) {
	for _, document := range []string{
		`"\u0000"`, `{"\u0000": 1}`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `1e999999`,
		`"` + "\xff" + `"`,
		strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
	} {
		if domain.JSON(document).Storable() {
			t.Errorf("%.20s was taken", document)
		}
	}
	if !domain.JSON(`"\\u0000"`).Storable() { // an escaped backslash, followed by text
		t.Error(`"\\u0000" was refused`)
	}
	if !domain.JSON(strings.Repeat("[", 999) + strings.Repeat("]", 999)).Storable() {
		t.Error("a nested document was refused")
	}
}
