package domain_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

// takesJSON reports whether a JSON column takes the document.
func takesJSON(tb testing.TB, document string) bool {
	tb.Helper()
	_, err := planned(tb, domain.Column{Type: domain.TypeJSON}, domain.JSON(document))
	return err == nil
}

var extreme = regexp.MustCompile(`[eE][-+]?[0-9]{3}`)

func TestJSONIsTakenByItsGrammar(t *testing.T) {
	pieces := []string{
		"{", "}", "[", "]", ",", ":", `"`, `"a"`, `""`, `\`, `\n`, `\x`, `\u00e9`, `\u00g9`, "0", "-", "1", ".", "e", "E", "+", "01",
		"true", "false", "null", "nul", " ", "\t", "\n", "\v", "é", "\x01", `{"a":1}`, "[1,2]", `"a":`, "-0.5e+10",
	}
	rapid.Check(t, func(r *rapid.T) {
		document := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(r, "pieces"), "")
		if extreme.MatchString(document) { // what is too great for a column is refused, by another test
			return
		}
		valid := json.Valid([]byte(document))
		if takesJSON(t, document) != valid {
			t.Fatalf("%q: valid is %v", document, valid)
		}
	})
	for _, document := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -0 , 1.5E-3 , true , null ] , "b" : { } } `, `"\"\\\/\b\f\n\r\té😀"`, `"\ud83d\ude00"`,
	} {
		if !takesJSON(t, document) {
			t.Errorf("%s was refused", document)
		}
	}
}

func TestEveryDocumentOfGoIsTaken(t *testing.T) {
	text := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 }))
	scalar := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), func(f float64) any { return f }), rapid.Just[any](nil),
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
		if !takesJSON(t, string(document)) {
			t.Fatalf("%s was refused", document)
		}
	})
}

// A database would refuse these in the middle of a rectification, although they are JSON.
func TestJSONThatPostgreSQLCannotStoreIsRefused(t *testing.T) {
	for _, document := range []string{
		`"\u0000"`, `{"\u0000": 1}`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `1e999999`, `"` + "\xff" + `"`,
		strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
	} {
		if takesJSON(t, document) {
			t.Errorf("%.20s was taken", document)
		}
	}
	if !takesJSON(t, `"\\u0000"`) { // a backslash, and then a text
		t.Error(`"\\u0000" was refused`)
	}
	if !takesJSON(t, strings.Repeat("[", 999)+strings.Repeat("]", 999)) {
		t.Error("a nested document was refused")
	}
}

func TestIntegersAreTakenExactlyInTheRangeOfTheirColumn(t *testing.T) {
	bits := map[domain.ColumnType]int{domain.TypeSmallInt: 16, domain.TypeInteger: 32, domain.TypeBigInt: 64}
	rapid.Check(t, func(r *rapid.T) {
		columnType := rapid.SampledFrom([]domain.ColumnType{domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt}).Draw(r, "type")
		limit := int64(math.MaxInt64) >> (64 - bits[columnType])
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(limit-2, limit), rapid.Int64Range(-limit-1, -limit+2),
			rapid.SampledFrom([]int64{math.MaxInt16 + 1, math.MinInt16 - 1, math.MaxInt32 + 1, math.MinInt32 - 1})).Draw(r, "n")
		got, err := planned(t, domain.Column{Type: columnType}, n)
		fits := -limit-1 <= n && n <= limit
		if fits != (err == nil) || fits && got != n {
			t.Fatalf("%s of %d: got %v, %v", columnType, n, got, err)
		}
	})
}

func TestTextIsTakenExactlyUpToTheLengthOfItsColumn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aé😀\u0301\x00"))).Draw(r, "text")
		length := rapid.IntRange(1, 8).Draw(r, "length")
		_, err := planned(t, domain.Column{Type: domain.TypeText, Length: length}, text)
		fits := utf8.RuneCountInString(text) <= length && !strings.ContainsRune(text, 0)
		if fits != (err == nil) {
			t.Fatalf("%q in %d: %v", text, length, err)
		}
	})
}

func TestWhatIsSentToExternalSystemsHasAFormInJSON(t *testing.T) {
	for want, value := range map[string]any{
		`"text"`: "text", `1`: int8(1), `18446744073709551615`: uint64(math.MaxUint64), `1e+300`: 1e300, `0.5`: float32(0.5),
		`-1.50e-7`: domain.Number("-1.50e-7"), `true`: true, `"2024-03-01T12:00:00Z"`: noon, `"2024-02-29"`: "2024-02-29",
		`"AQI="`: []byte{1, 2}, `[1]`: domain.JSON(" [ 1 ] "), `null`: domain.JSON("null"), `"9999-03-01T12:00:00Z"`: noon.AddDate(7975, 0, 0),
	} {
		plan, err := mustMap(t, users()).PlanRectification(domain.Corrections{domain.CategoryLocation: value}, true)
		if err != nil {
			t.Errorf("%v: %v", value, err)
			continue
		}
		wantJSON(t, plan.Corrections, `{"location":`+want+`}`)
	}
}
