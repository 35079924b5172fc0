package domain_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

func TestNumbersKeepEveryDigit(t *testing.T) {
	for _, number := range []domain.Number{
		"0", "-0", "7", "-7", "12345678901234567890.123456789012345678901234567890",
		"0.10", "1e5", "1E+5", "1.5e-07", "0e0", "-0.0",
	} {
		wantJSON(t, number, string(number))
	}
}

func TestATextThatIsNotAJSONNumberIsAString(t *testing.T) {
	for _, text := range []domain.Number{
		"NaN", "Infinity", "-Infinity", "", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1.e5", "0x1", "1_0",
		"1 ", " 1", "1,5", "٧",
	} {
		wantJSON(t, text, `"`+string(text)+`"`)
	}
}

// json.Marshal fails if MarshalJSON returns a text that is not JSON. The test relies on this check of encoding/json.
func TestANumberIsANumberExactlyWhenJSONSaysSo(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("0123456789+-.eE")), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		drawn := text.Draw(t, "text")
		encoded, err := json.Marshal(domain.Number(drawn))
		if err != nil {
			t.Fatal(err)
		}
		if isNumber := encoded[0] != '"'; isNumber != json.Valid([]byte(drawn)) {
			t.Fatalf("%q is encoded as %s", drawn, encoded)
		}
	})
}

func TestStoredJSONIsExportedAsItIs(t *testing.T) {
	for _, document := range []string{`{"b":1,"a":[1.10,null]}`, `[]`, `null`, `"text"`, `1e400`} {
		wantJSON(t, domain.JSON(document), document)
	}
}

func TestExportedValuesKeepTheirType(t *testing.T) {
	for golden, value := range map[string]any{
		`null`:                          nil,
		`"text"`:                        "text",
		`true`:                          true,
		`-7`:                            int64(-7),
		`9223372036854775807`:           int64(9223372036854775807),
		`1.5`:                           1.5,
		`12345678901234567890.10`:       domain.Number("12345678901234567890.10"),
		`"NaN"`:                         domain.Number("NaN"),
		`"2024-03-01T12:00:00.123456Z"`: time.Date(2024, 3, 1, 12, 0, 0, 123456000, time.UTC),
		`"AP8="`:                        []byte{0, 255},
		`{"theme":"dark"}`:              domain.JSON(`{"theme":"dark"}`),
	} {
		encoded, err := json.Marshal(domain.ExportRecord{Value: value})
		if err != nil {
			t.Errorf("%v: %v", value, err)
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(encoded, &fields); err != nil {
			t.Fatal(err)
		}
		if got := string(fields["value"]); got != golden {
			t.Errorf("%v: got %s, want %s", value, got, golden)
		}
	}
}

func TestAnyTextIsValidJSONAsANumber(t *testing.T) {
	for _, text := range []string{"a\x01b", "\x7f", "\a\v", "\"\\", "\u00a0", "\U000e0001", "\xff", "\u2028"} {
		encoded, err := json.Marshal(domain.Number(text))
		if err != nil || !json.Valid(encoded) {
			t.Errorf("%q: got %s, %v", text, encoded, err)
		}
	}
}
