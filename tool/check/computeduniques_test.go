package check_test

import (
	"slices"
	"testing"
)

// TestSurrogatesMayBeEqualInAComputedKey has unique indexes on values that the database computes from two columns. An
// erasure writes a text or NULL into them.
func TestSurrogatesMayBeEqualInAComputedKey(t *testing.T) {
	const names = `ALTER TABLE users ADD COLUMN first text, ADD COLUMN last text, ADD COLUMN `
	const email = `ALTER TABLE users ADD COLUMN key text GENERATED ALWAYS AS (lower(email)) STORED UNIQUE`
	generated := func(expression string) string {
		return names + "key text GENERATED ALWAYS AS (" + expression + ") STORED"
	}
	const noText, isNull = "''", ""
	column := func(name, surrogate string) string {
		if surrogate == isNull {
			return `, {"name": "` + name + `", "type": "text", "personal": {"category": "identity", "erasure": "null"}}`
		}
		return annotated(name, surrogate)
	}
	for name, c := range map[string]struct {
		statement, first, last string
		want                   []string
	}{
		"a generated column": {
			generated("lower(first || last)") + " UNIQUE", noText, noText,
			[]string{"unique-violated users.first, last users_key_key"},
		},
		"a generated column beside another one": {
			generated("lower(first)") + ", ADD UNIQUE (key, created_at)", noText, noText,
			[]string{"unique-undecided users.first users_key_created_at_key"},
		},
		"a generated column that replaces NULL": {
			generated("COALESCE(first, '') || COALESCE(last, '')") + " UNIQUE", isNull, isNull,
			[]string{"unique-violated users.first, last users_key_key"},
		},
		"an index that replaces NULL": {
			names + "n bigint; CREATE UNIQUE INDEX one ON users (lower(COALESCE(first, '') || COALESCE(last, '')))",
			isNull, isNull,
			[]string{"unique-violated users.first, last one"},
		},
		"a part of a surrogate with digits": {
			names + "key text GENERATED ALWAYS AS (split_part(email, '@', 2)) STORED UNIQUE", isNull, isNull,
			[]string{"unique-undecided users.email users_key_key"},
		},

		"a value that becomes NULL": {generated("lower(first || last)") + " UNIQUE", noText, isNull, nil},
		"an index on a value that becomes NULL": {
			names + "n bigint; CREATE UNIQUE INDEX one ON users (lower(first || last))", noText, isNull, nil,
		},
		"a value with digits":     {generated("lower(first || email)") + " UNIQUE", noText, noText, nil},
		"the email in lower case": {names + "n bigint; " + email, noText, noText, nil},
		"a value with the key":    {generated("first || id::text") + " UNIQUE", noText, noText, nil},
		"a key beside it":         {generated("lower(first)") + ", ADD UNIQUE (key, id)", noText, noText, nil},
		"no unique index":         {generated("lower(first || last)"), noText, noText, nil},
		"other columns": {
			generated("date_part('year', created_at AT TIME ZONE 'UTC')::text") + " UNIQUE", noText, noText, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := liveFindings(t, liveCase{
				statements: []string{c.statement}, columns: column("first", c.first) + column("last", c.last),
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// annotated returns a further column of users in the manifest.
func annotated(name, surrogate string) string {
	return `, {"name": "` + name + `", "type": "text", "surrogate": "` + surrogate + `",
		"personal": {"category": "identity", "erasure": "anonymize"}}`
}
