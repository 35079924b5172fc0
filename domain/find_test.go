package domain_test

import (
	"regexp"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func TestAPatternMatchesAValueAsJSONMayWriteIt(t *testing.T) {
	for value, texts := range map[string]map[string]bool{
		"zoë": {
			"zoë": true, "ZOË": true, `zo\u00eb`: true, `zo\u00EB`: true, `ZO\u00CB`: true,
			"zoe": false, `zo\u00ea`: false, `zo\\00eb`: false,
		},
		"a/b":    {"a/b": true, `a\/b`: true, `a\u002fb`: true, `a\b`: false},
		`a"b`:    {`a"b`: true, `a\"b`: true, `a\u0022b`: true, `a\b`: false},
		`a\b`:    {`a\b`: true, `a\\b`: true, `a\u005cb`: true, "a/b": false},
		"a\nb":   {"a\nb": true, `a\nb`: true, `a\u000ab`: true, "a b": false},
		"a.b":    {"a.b": true, "axb": false, "ab": false},
		"a(b)*c": {"a(b)*c": true, "abbc": false, "ac": false},
		"😀ab":    {"😀ab": true, `\ud83d\ude00ab`: true, `\uD83D\uDE00AB`: true, `\ude00ab`: false},
		"kelvin": {"KELVIN": true, "\u212Aelvin": false},
		"σας":    {"ΣΑΣ": true},
	} {
		pattern := regexp.MustCompile(domain.SearchPattern(value))
		for text, want := range texts {
			if got := pattern.MatchString("x" + text + "x"); got != want {
				t.Errorf("SearchPattern(%q) matches %q: got %v", value, text, got)
			}
		}
	}
}
