package rectification_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func TestIntegersAreAcceptedExactlyInTheRangeOfTheirColumn(t *testing.T) {
	bits := map[datamap.ColumnType]int{datamap.TypeSmallInt: 16, datamap.TypeInteger: 32, datamap.TypeBigInt: 64}
	rapid.Check(t, func(r *rapid.T) {
		columnType := rapid.SampledFrom([]datamap.ColumnType{datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt}).
			Draw(r, "type")
		limit := int64(math.MaxInt64) >> (64 - bits[columnType])
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(limit-2, limit), rapid.Int64Range(-limit-1, -limit+2),
			rapid.SampledFrom([]int64{math.MaxInt16 + 1, math.MinInt16 - 1, math.MaxInt32 + 1, math.MinInt32 - 1})).Draw(r, "n")
		got, err := planned(t, datamap.Column{Type: columnType}, n)
		fits := -limit-1 <= n && n <= limit
		if fits != (err == nil) || fits && got != n {
			t.Fatalf("%s of %d: got %v, %v", columnType, n, got, err)
		}
	})
}

func TestTextIsAcceptedExactlyUpToTheLengthOfItsColumn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aé😀\u0301\x00"))).Draw(r, "text")
		length := rapid.IntRange(1, 8).Draw(r, "length")
		_, err := planned(t, datamap.Column{Type: datamap.TypeText, Length: length}, text)
		fits := utf8.RuneCountInString(text) <= length && !strings.ContainsRune(text, 0)
		if fits != (err == nil) {
			t.Fatalf("%q in %d: %v", text, length, err)
		}
	})
}

func TestCorrectionsForExternalSystemsHaveAFormInJSON(t *testing.T) {
	for want, value := range map[string]any{
		`"text"`: "text", `1`: int8(1), `18446744073709551615`: uint64(math.MaxUint64), `1e+300`: 1e300, `0.5`: float32(0.5),
		`-1.50e-7`: domain.Number("-1.50e-7"), `true`: true, `"2024-03-01T12:00:00Z"`: noon, `"2024-02-29"`: "2024-02-29",
		`"AQI="`: []byte{1, 2}, `[1]`: domain.JSON(" [ 1 ] "), `null`: domain.JSON("null"),
		`"9999-03-01T12:00:00Z"`: noon.AddDate(7975, 0, 0),
	} {
		plan, err := planner.Plan(mustMap(t, users()), domain.Corrections{domain.CategoryLocation: value}.List(true), true)
		if err != nil {
			t.Errorf("%v: %v", value, err)
			continue
		}
		wantJSON(t, plan.Corrections, `{"location":`+want+`}`)
	}
}
