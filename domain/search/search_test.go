package search_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain/search"
)

func TestAPatternMatchesAValueAsJSONMayWriteIt(t *testing.T) {
	for value, texts := range map[string]map[string]bool{
		"zoë": {
			"zoë": true, "ZOË": true, `zo\u00eb`: true, `zo\u00EB`: true, `ZO\u00CB`: true,
			"zoe": false, `zo\u00ea`: false, `zo\\00eb`: false,
		},
		"a/b": {"a/b": true, `a\/b`: true, `a\u002fb`: true, `a\b`: false},
		`a"b`: {`a"b`: true, `a\"b`: true, `a\u0022b`: true, `a\b`: false},
		`a\b`: {`a\b`: true, `a\\b`: true, `a\u005cb`: true, "a/b": false},
		`a"'\\b`: {
			`a"'\\b`: true, `(a""''\\\\b)`: true, `{"(\\"a\\"\\"'\\\\\\\\b\\")"}`: true, `a"\\b`: false, `a'\\b`: false,
		},
		"é":      {`\303\251`: true, `\303\211`: true, `\\303\\251`: true, `\303\250`: false},
		"a\nb":   {"a\nb": true, `a\nb`: true, `a\u000ab`: true, "a b": false},
		"a.b":    {"a.b": true, "axb": false, "ab": false},
		"a(b)*c": {"a(b)*c": true, "abbc": false, "ac": false},
		"😀ab":    {"😀ab": true, `\ud83d\ude00ab`: true, `\uD83D\uDE00AB`: true, `\ude00ab`: false},
		"kelvin": {"KELVIN": true, "\u212Aelvin": false},
		"σας":    {"ΣΑΣ": true},
	} {
		pattern := regexp.MustCompile(search.Pattern(value))
		for text, want := range texts {
			if got := pattern.MatchString("x" + text + "x"); got != want {
				t.Errorf("Pattern(%q) matches %q: got %v", value, text, got)
			}
		}
	}
}

// Each encoding of the value, in upper or lower case and at any position, is found, and no encoding of another value.
func TestAPatternMatchesEncodedCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[a-zäöüé@.+-]{5,12}`).Draw(t, "value")
		copied := []rune(value)
		for i := range copied {
			if rapid.Bool().Draw(t, "upper") {
				copied[i] = unicode.ToUpper(copied[i])
			}
		}
		text := []byte(rapid.StringN(0, 5, -1).Draw(t, "before") + string(copied) + rapid.StringN(0, 5, -1).Draw(t, "after"))
		pattern := regexp.MustCompile(search.Pattern(value))
		changed := string(copied[:3]) + "#" + string(copied[3:])
		other := regexp.MustCompile(search.Pattern(changed))
		for _, encoded := range []string{
			hex.EncodeToString(text), strings.ToUpper(hex.EncodeToString(text)), base64.StdEncoding.EncodeToString(text),
			base64.RawURLEncoding.EncodeToString(text),
		} {
			if !pattern.MatchString(encoded) {
				t.Fatalf("Pattern(%q) does not match %q", value, encoded)
			}
			if !bytes.Contains(text, []byte("#")) && other.MatchString(encoded) {
				t.Fatalf("Pattern(%q) matches %q", changed, encoded)
			}
		}
	})
}

// PostgreSQL breaks base64 after 76 characters.
func TestAPatternMatchesBase64InLines(t *testing.T) {
	const value = "zoe@example.org"
	for before := range 60 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("q", before) + value + strings.Repeat("z", 50)))
		for _, lineBreak := range []string{"\n", "\r\n"} {
			text := encoded[:76] + lineBreak + encoded[76:]
			if !regexp.MustCompile(search.Pattern(value)).MatchString(text) {
				t.Errorf("the pattern does not match %q", text)
			}
		}
	}
}

func TestAPatternMatchesNoEncodedCopyOfAShortValue(t *testing.T) {
	for value, want := range map[string]bool{"zoe@": false, "zoe@e": true} {
		pattern := regexp.MustCompile(search.Pattern(value))
		for _, text := range []string{hex.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value))} {
			if got := pattern.MatchString(text); got != want {
				t.Errorf("Pattern(%q) matches %q: got %v", value, text, got)
			}
		}
	}
}
