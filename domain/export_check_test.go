package domain_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

func exported(value any) domain.ExportRecord {
	return domain.ExportRecord{Source: "desk", Field: "f", Row: "1", Category: domain.CategoryContact, Value: value}
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestARecordThatABundleCanHoldIsValid(t *testing.T) {
	for _, value := range []any{
		nil, "", "é\x00", true, 0, int8(1), uint64(math.MaxUint64), 1.5, []byte(nil), []byte("\xff"),
		domain.Number("1e999"), domain.Number("NaN"), domain.Number("-Infinity"),
		domain.JSON(`null`), domain.JSON(" {\"a\":[1e400,\"\\u0000\\ud800\",{}]}\n"), domain.JSON(nested(1000)),
		time.Time{},
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), noon.In(time.FixedZone("", -23*3600)),
	} {
		record := exported(value)
		if !record.Valid() {
			t.Errorf("%T %.40v is refused", value, value)
		}
		encoded, err := json.Marshal(domain.ExportBundle{Records: []domain.ExportRecord{record}})
		if err != nil || !json.Valid(encoded) || !utf8.Valid(encoded) {
			t.Errorf("%T %.40v is encoded as %s, %v", value, value, encoded, err)
		}
	}
	record := exported("x")
	record.Category, record.Row = "", ""
	if !record.Valid() {
		t.Error("a record without a category and a row is refused")
	}
}

func TestARecordThatABundleCannotHoldIsNotValid(t *testing.T) {
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, value := range []any{
		"a\xff", "\xed\xa0\x80", math.NaN(), math.Inf(-1), float32(1), make(chan int),
		struct{}{},
		map[string]any{},
		[]string{},
		json.RawMessage(`{}`), json.Number("1"), ptr("x"), error(nil), &far, func() {},
		domain.Number(""), domain.Number("1,5"), domain.Number("0x1"), domain.Number("1 "),
		domain.Number("\xff"), domain.Number("nan"),
		domain.JSON(""), domain.JSON(" "), domain.JSON(`{`), domain.JSON(`{"a":1,}`), domain.JSON(`{} {}`),
		domain.JSON(`{}x`),
		domain.JSON(`{a:1}`), domain.JSON(`'a'`), domain.JSON(`NaN`), domain.JSON(`01`), domain.JSON(`"\x"`),
		domain.JSON("\"\n\""),
		domain.JSON("\"\xff\""), domain.JSON("\ufeff{}"), domain.JSON(`nul`), domain.JSON(`[1,[2,{"a":[tru]}]]`),
		domain.JSON(nested(10_001)), domain.JSON(strings.Repeat("[", 100_000)), domain.JSON("{}\x00"),
		far, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), noon.In(time.FixedZone("", 24*3600)),
		noon.In(time.FixedZone("", -30*3600)),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).In(time.FixedZone("", 3600)),
	} {
		if value != nil && exported(value).Valid() {
			t.Errorf("%T %.40v is valid", value, value)
		}
	}
	for name, change := range map[string]func(*domain.ExportRecord){
		"no field":                 func(r *domain.ExportRecord) { r.Field = "" },
		"a field that is no text":  func(r *domain.ExportRecord) { r.Field = "\xff" },
		"a row that is no text":    func(r *domain.ExportRecord) { r.Row = "\xff" },
		"a source that is no text": func(r *domain.ExportRecord) { r.Source = "\xff" },
		"a category":               func(r *domain.ExportRecord) { r.Category = "habits" },
		"a basis":                  func(r *domain.ExportRecord) { r.LegalBasis = ptr(domain.LegalBasis("whim")) },
		"a purpose":                func(r *domain.ExportRecord) { r.Purpose = ptr("\xff") },
		"a reason":                 func(r *domain.ExportRecord) { r.RetentionReason = ptr("\xff") },
		"an end":                   func(r *domain.ExportRecord) { r.ExpiresAt = &far },
	} {
		record := exported("x")
		change(&record)
		if record.Valid() {
			t.Errorf("%s: the record is valid", name)
		}
	}
}

// The test uses json.Valid to decide whether a text is JSON.
func TestADocumentIsJSONExactlyWhenEncodingJSONSaysSo(t *testing.T) {
	token := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"a"`, `""`, `"\u00e9\n"`, `"\ud800"`, `"\u12"`, "1",
		"-0.5e+3", "01", ".", "true", "null", "nul", " ", "\n", "\x00", "\"",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(token, 0, 8).Draw(t, "tokens"), "")
		if got, want := exported(domain.JSON(text)).Valid(), json.Valid([]byte(text)); got != want {
			t.Fatalf("%q: valid is %v", text, got)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SliceOfN(rapid.SampledFrom([]byte("{}[],:\"\\u0a1e-.tfn ")), 0, 8).Draw(t, "bytes")
		if got, want := exported(domain.JSON(value)).Valid(), json.Valid(bytes.Clone(value)); got != want {
			t.Fatalf("%q: valid is %v", value, got)
		}
	})
}
