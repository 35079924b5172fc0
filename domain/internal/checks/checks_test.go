package checks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/internal/checks"
)

func TestValuesAgainstConstraints(t *testing.T) {
	for _, test := range []struct {
		text string
		with any
		want checks.Verdict
	}{
		{`CHECK ((age >= 18))`, 0.0, checks.Unknown},
		{`CHECK ((c >= 18))`, 0.0, checks.Fails},
		{`CHECK ((c >= 18))`, 18.0, checks.Passes},
		{`CHECK ((c >= 18))`, nil, checks.Passes},
		{`CHECK ((c > (-1)::numeric)) NOT VALID`, 0.0, checks.Passes},
		{`CHECK (((c)::text = ANY ((ARRAY['f'::character varying, 'm'::character varying(3)])::text[])))`, "f", checks.Passes},
		{`CHECK (((c)::text = ANY ((ARRAY['f'::character varying, 'm'::character varying(3)])::text[])))`, "x", checks.Fails},
		{`CHECK ((c = ANY (ARRAY['f'::text, 'm'::text])))`, "m", checks.Passes},
		{`c IN ('f', 'm')`, "m", checks.Passes},
		{`c NOT IN ('f', 'm')`, "m", checks.Fails},
		{`"c" in ('it''s')`, "it's", checks.Passes},
		{`CHECK ((c ~~ '%@%'::text))`, "a@b", checks.Passes},
		{`CHECK ((c !~~ '%@%'::text))`, "a@b", checks.Fails},
		{`c LIKE '%@%'`, "ab", checks.Fails},
		{`c NOT LIKE '%@%'`, "ab", checks.Passes},
		{`CHECK (((c)::text ~* '^[A-Z0-9]+@[a-z.]+$'::text))`, "abc@erased.invalid", checks.Passes},
		{`CHECK (((c)::text ~ '^[A-Z]+$'::text))`, "abc", checks.Fails},
		{`CHECK (((c)::text ~ '^(?=x)$'::text))`, "abc", checks.Unknown},
		{`CHECK ((VALUE ~ '^\d{5}$'::text))`, "00000", checks.Passes},
		{`CHECK ((char_length(btrim(c)) BETWEEN 3 AND 5))`, " abc ", checks.Passes},
		{`length(c) between 3 and 5 and c <> 'abc'`, "abc", checks.Fails},
		{`CHECK (("position"((c)::text, '@'::text) > 1))`, "a@b", checks.Passes},
		{`position('@' in c) > 1`, "@b", checks.Fails},
		{`CHECK ((lower((c)::text) = (c)::text))`, "Abc", checks.Fails},
		{`CHECK ((c IS NOT NULL) OR (d IS NOT NULL))`, nil, checks.Unknown},
		{`CHECK ((c IS NOT NULL) OR (d IS NOT NULL))`, "x", checks.Passes},
		{`CHECK ((c IS NOT NULL) AND (d IS NOT NULL))`, nil, checks.Fails},
		{`CHECK (((c > '1900-01-01'::date) AND (c < CURRENT_DATE)))`, "1970-01-01T00:00:00Z", checks.Unknown},
		{`CHECK ((c > '1900-01-01'::date))`, "1970-01-01T00:00:00Z", checks.Passes},
		{`CHECK ((c > '1980-01-01'::date))`, "1970-01-01T00:00:00Z", checks.Fails},
		{`CHECK (c)`, false, checks.Fails},
		{`CHECK ((c IS TRUE))`, false, checks.Fails},
		{`CHECK ((NOT c))`, false, checks.Passes},
		{`CHECK (d = c)`, "x", checks.Unknown},
		{`CHECK (valid(c))`, "x", checks.Unknown},
		{`CHECK ((c + 1) > 0)`, 1.0, checks.Unknown},
		{`CHECK (coalesce(c, '') <> '')`, nil, checks.Unknown},
		{`c = 'unclosed`, "x", checks.Unknown},
		{`c = `, "x", checks.Unknown},
		{`c in (`, "x", checks.Unknown},
		{`c = any (array[`, "x", checks.Unknown},
		{`c ::`, true, checks.Passes},
		{strings.Repeat("(", 1000) + "c", "x", checks.Unknown},
		{strings.Repeat("not ", 1000) + "c", true, checks.Passes},
		{``, "x", checks.Unknown},
		{`?`, "x", checks.Unknown},
	} {
		if got := checks.Fits(test.text, "c", test.with); got != test.want {
			t.Errorf("%.80s with %v: %d, want %d", test.text, test.with, got, test.want)
		}
	}
}

func TestLiteralsOfAConstraint(t *testing.T) {
	got := checks.Literals(`CHECK (c = ANY (ARRAY['f'::text, 'm'::text])) OR c = 'f' OR d > 18`)
	if want := []string{"f", "m", "18"}; !slices.Equal(got, want) {
		t.Errorf("literals = %q, want %q", got, want)
	}
}

func FuzzConstraints(f *testing.F) {
	f.Add(`CHECK (((c)::text = ANY ((ARRAY['f'::character varying])::text[])))`)
	f.Add(`not c is not null and position('@' in c) between -1 and 2`)
	f.Fuzz(func(_ *testing.T, text string) {
		checks.Fits(text, "c", "x") // ends, and does not panic
		checks.Literals(text)
	})
}
