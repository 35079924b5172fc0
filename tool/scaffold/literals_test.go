package scaffold

import (
	"strings"
	"testing"
)

func TestTheLiteralsOfAConditionAreRead(t *testing.T) {
	for condition, want := range map[string]string{
		`CHECK (c = ANY (ARRAY['f'::text, 'it''s'::text]) OR d > 18)`: "f,it's,18",
		`"d18" > 1.5 AND "it's" <> '' AND md5(x2) <> 'a"b'`:           `1.5,,a"b`,
		`c = 'ü' AND ü1 > 2`: "ü,2",
		`'open`:              "",
		"":                   "",
	} {
		if got := strings.Join(literalsOf(condition), ","); got != want {
			t.Errorf("%s: got %s, want %s", condition, got, want)
		}
	}
}

// The condition comes from the schema of the application. No condition may cause a panic.
func FuzzLiterals(f *testing.F) {
	f.Add(`CHECK (((email)::text = ANY ((ARRAY['f'::character varying(3)])::text[]))) NOT VALID`)
	f.Add(`'' "" ' "`)
	f.Fuzz(func(_ *testing.T, condition string) { literalsOf(condition) })
}
