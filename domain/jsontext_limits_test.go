package domain_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

func TestANumberIsStorableWithinTheRangeOfAFloat64(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-0": true, "0e-9": true, "0.000e999": true, "9007199254740993": true, "-1.50e-7": true, "1e308": true,
		"1e309": false, "-1e309": false, "1e-400": false, "0.1e-400": false, "4.9e-324": true, "1E5": true, "1E999": false,
		"": false, "NaN": false, "0x1": false, "1 ": false, "01": false,
		strings.Repeat("9", 255): true, strings.Repeat("9", 256): false, "0." + strings.Repeat("0", 252) + "1": true,
	} {
		if got := domain.Number(text).Storable(); got != want {
			t.Errorf("%.20s: got %v", text, got)
		}
		if document := `{"a":[` + text + `]}`; want && !domain.JSON(document).Storable() {
			t.Errorf("%.20s is refused in a document", document)
		} else if !want && text != "" && text != "1 " && domain.JSON(document).Storable() {
			t.Errorf("%.20s is taken in a document", document)
		}
	}
}

// Storable has a shortcut for numbers without an exponent. The shortcut must give the same result as a conversion to
// float64.
func TestAStorableNumberIsFiniteAndDoesNotVanish(t *testing.T) {
	text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,260})(\.[0-9]{1,260})?([eE][-+]?[0-9]{1,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		number := domain.Number(text.Draw(t, "number"))
		exactly, ok := new(big.Rat).SetString(string(number))
		if !ok {
			t.Fatalf("%s is not a number", number)
		}
		f, err := json.Number(number).Float64()
		fits := err == nil && (f != 0) == (exactly.Sign() != 0) && len(number) <= domain.MaxTextLength
		if number.Storable() != fits {
			t.Fatalf("%s: storable is %v", number, number.Storable())
		}
	})
}

// Storable must not mistake the characters inside a string for brackets, numbers or escapes.
func TestCharactersOfStringsAreNotTokens(t *testing.T) {
	brackets := strings.Repeat("[", 20_000)
	for _, document := range []string{
		`"` + brackets + `"`, `["` + brackets + `\"` + brackets + `"]`, `{"` + brackets + `":1}`,
		`"1e999"`, `{"1e999":"\"1e999"}`, `"\\\\"`, `["\\",1,"\\"]`, `"\\ud800"`, `"\\\\ud800"`,
	} {
		if !domain.JSON(document).Storable() || !exported(domain.JSON(document)).Valid() {
			t.Errorf("%.30s is refused", document)
		}
	}
	for _, document := range []string{
		`["\\",1e999,"\\"]`, `["\"",1e999]`, `{"a\"":1e999}`, `"\\\ud800"`, `{"\\\u0000":1}`,
	} {
		if domain.JSON(document).Storable() {
			t.Errorf("%.30s is taken", document)
		}
	}
}

func TestDepthCountsOpenBracketsOnly(t *testing.T) {
	wide := "[" + strings.Repeat("[{}],", 10_000) + "[]]"
	deep := func(levels int) domain.JSON {
		return domain.JSON(strings.Repeat(`{"a":[`, levels/2) + strings.Repeat(`]}`, levels/2))
	}
	for name, c := range map[string]struct {
		document             domain.JSON
		storable, exportable bool
	}{
		"a wide document": {domain.JSON(wide), true, true},
		"1,000 levels":    {deep(1000), true, true},
		"1,002 levels":    {deep(1002), false, true},
		"9,000 levels":    {deep(9000), false, true},
		"9,002 levels":    {deep(9002), false, false},
	} {
		if got := c.document.Storable(); got != c.storable {
			t.Errorf("%s: storable is %v", name, got)
		}
		if got := exported(c.document).Valid(); got != c.exportable {
			t.Errorf("%s: exportable is %v", name, got)
		}
	}
}

func TestALoneSurrogateIsFound(t *testing.T) {
	for text, want := range map[string]bool{
		`""`: false, `"\u00e9"`: false, `"\ud83d\ude00"`: false, `"\uD83D\uDE00"`: false, `"\\ud83d"`: false,
		`"\u0000"`:                   false,
		`"\ud83d\ude00\ud83d\ude00"`: false, `"\\\ud83d\ude00"`: false,
		`"\ud83d"`: true, `"\ude00"`: true, `"\ude00\ud83d"`: true, `"\ud83d\ud83d\ude00"`: true, `"\ud83dx\ude00"`: true,
		`"\ud83d\\ude00"`: true, `"\ud83d\u0041"`: true, `{"\ud83d":"\ude00"}`: true, `"\ud83d\ude00\ud83d"`: true,
		`"\\\ud83d"`: true,
	} {
		if !json.Valid([]byte(text)) {
			t.Fatalf("%s is not JSON", text)
		}
		if got := domain.HasLoneSurrogate([]byte(text)); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// encoding/json replaces a lone half of a UTF-16 surrogate pair with U+FFFD.
func TestALoneSurrogateIsFoundExactlyIfEncodingJSONReplacesIt(t *testing.T) {
	pieces := rapid.SampledFrom([]string{`\ud83d`, `\ude00`, `\uD800`, `\u0041`, `\\`, `\"`, `u`, `d83d`, `x`, `é`})
	rapid.Check(t, func(t *rapid.T) {
		text := `"` + strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"), "") + `"`
		var decoded string
		if err := json.Unmarshal([]byte(text), &decoded); err != nil {
			t.Fatal(err)
		}
		if got, want := domain.HasLoneSurrogate([]byte(text)), strings.ContainsRune(decoded, '\ufffd'); got != want {
			t.Fatalf("%s: got %v", text, got)
		}
	})
}
