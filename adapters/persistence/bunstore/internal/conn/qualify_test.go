package conn

import "testing"

func TestFunctionsAreQualifiedAndTypesAreNot(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT now(), lower(a)":                           "SELECT pg_catalog.now(), pg_catalog.lower(a)",
		"SELECT 'now()', \"f\"(a), s.f(a), habeas_f(a)":    "SELECT 'now()', \"f\"(a), s.f(a), habeas_f(a)",
		"CAST(CAST($1 AS character varying(80)) AS text)":  "CAST(CAST($1 AS character varying(80)) AS text)",
		"CAST($1 AS numeric(12,2)), CAST($2 AS vector(3))": "CAST($1 AS numeric(12,2)), CAST($2 AS vector(3))",
		"CAST($1 AS timestamp(3) without time zone)":       "CAST($1 AS timestamp(3) without time zone)",
		"CAST($1 AS interval second(3)), bit varying(5)":   "CAST($1 AS interval second(3)), bit varying(5)",
		"CAST($1 AS bit varying(5)[])":                     "CAST($1 AS bit varying(5)[])",
	} {
		if got := qualify(text); got != want {
			t.Errorf("%s\nbecame\n%s", text, got)
		}
	}
}
