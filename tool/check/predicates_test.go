package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// partial adds an annotated number and a text with the surrogates, and a unique index on each that covers the rows of a
// condition. The remedies are about the number only if the text is NULL.
func partial(where string) func(*world) {
	return func(w *world) {
		w.addToBoth("users", datamap.Column{
			Name: "code", Type: datamap.TypeInteger, Surrogate: "-1", Personal: personal(anonymize),
		})
		w.addToBoth("users", datamap.Column{
			Name: "tag", Type: datamap.TypeText, Surrogate: "''", Personal: personal(anonymize),
		})
		column := "code"
		if strings.Contains(where, "tag") {
			column = "tag"
		}
		w.live("users").Uniques = append(w.live("users").Uniques, datamap.CatalogUnique{
			Name: "one", Columns: []string{column}, Partial: true, Where: where,
		})
	}
}

func TestAPartialIndexThatLeavesOutTheSurrogateIsNoFinding(t *testing.T) {
	for where, leavesOut := range map[string]bool{
		"(code > 0)":                        true,
		"(code >= 0)":                       true,
		"(code <> '-1'::integer)":           true,
		"(code <> -1)":                      true,
		"(code = 7)":                        true,
		"((code > 0) AND (theme = 'dark'))": true,
		"((theme <> 'x'::text) AND (code > '-1'::bigint))": true,
		"(tag <> ''::text)":         true,
		"((tag)::text <> ''::text)": true,
		"(tag = 'a'::text)":         true,
		"CREATE UNIQUE INDEX one ON users (tag) WHERE tag <> ''":         true,
		"CREATE UNIQUE INDEX one ON users (code) WHERE (\"code\") > (0)": true,
		"":                               false,
		"(code < 0)":                     false,
		"(code >= '-1'::integer)":        false,
		"(code <> 0)":                    false,
		"(code > 0.5)":                   false,
		"(code > theme)":                 false,
		"(NOT (code > 0))":               false,
		"((code > 0) OR (code = '-1'))":  false,
		"((code > 0) IS FALSE)":          false,
		"((tag = 'a'::text) IS FALSE)":   false,
		"(abs(code) > 3)":                false,
		"((code + 9) > 0)":               false,
		"(code = ANY (ARRAY[7, 8]))":     false,
		"(theme = 'dark'::text) AND tag": false,
		"(tag > 'a'::text)":              false,
		"(tag = ' '::bpchar)":            false,
		"(tag = ' '::text)":              false,
		"(tag <> E'\\\\'::text)":         false,
		"(id > 0)":                       false,
	} {
		w := newWorld()
		partial(where)(w)
		found := slices.ContainsFunc(w.findings(t), func(f datamap.Finding) bool { return f.Code == "unique-undecided" })
		if found == leavesOut {
			t.Errorf("%s: found is %t", where, found)
		}
	}
}

// Only a text can hold a placeholder, so the remedy for another type must not suggest one.
func TestTheRemedyForEqualSurrogatesExistsForTheType(t *testing.T) {
	for name, c := range map[string]struct {
		column  datamap.Column
		change  func(w *world)
		want    []string
		without string
	}{
		"bytes": {
			datamap.Column{Type: datamap.TypeBytes},
			func(w *world) { w.column("users", "code").Nullable = false },
			[]string{"Drop the constraint", "drop NOT NULL and set erasure:null", "to a text", `pii:"none"`},
			"laceholder",
		},
		"a number": {
			datamap.Column{Type: datamap.TypeInteger}, func(*world) {}, []string{"set erasure:null"}, "drop NOT NULL",
		},
		"a number in a constraint that refuses a second NULL": {
			datamap.Column{Type: datamap.TypeInteger},
			func(w *world) { w.live("users").Uniques[0].NullsEqual = true },
			[]string{"Drop the constraint"},
			"erasure:null",
		},
		"a number in a partial index": {
			datamap.Column{Type: datamap.TypeInteger},
			func(w *world) { w.live("users").Uniques[0].Partial = true },
			[]string{"give a surrogate to which the condition of the index does not apply"},
			"laceholder",
		},
		"a UUID": {
			datamap.Column{Type: datamap.TypeUUID, Surrogate: "00000000-0000-0000-0000-000000000000"},
			func(*world) {},
			[]string{"Remove the surrogate"},
			"laceholder",
		},
		"a text": {
			datamap.Column{Type: datamap.TypeText, Surrogate: "none"},
			func(*world) {},
			[]string{"placeholder", "erasure:null"},
			"Drop",
		},
	} {
		w := newWorld()
		c.column.Name, c.column.Personal = "code", personal(anonymize)
		w.addToBoth("users", c.column)
		w.live("users").Uniques = []datamap.CatalogUnique{{Name: "one", Columns: []string{"code"}}}
		c.change(w)
		found := w.findings(t)
		i := slices.IndexFunc(found, func(f datamap.Finding) bool { return strings.HasPrefix(f.Code, "unique-") })
		if i < 0 {
			t.Fatalf("%s: got %v", name, found)
		}
		for _, text := range c.want {
			if !strings.Contains(found[i].Remedy, text) {
				t.Errorf("%s: %q does not say %q", name, found[i].Remedy, text)
			}
		}
		if strings.Contains(found[i].Remedy, c.without) {
			t.Errorf("%s: %q says %q", name, found[i].Remedy, c.without)
		}
	}
}
