package porttest

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// streets returns a row of the table addresses for each street.
func streets(streets ...any) (rows []map[string]any) {
	for _, street := range streets {
		rows = append(rows, map[string]any{"street": street})
	}
	return rows
}

// notOfTheTable returns a constraint that the table addresses does not have.
func notOfTheTable() datamap.CatalogCheck {
	return datamap.CatalogCheck{Name: "other", Columns: []string{"street"}, Text: "CHECK ((street <> 'other'::text))"}
}

func (s Store) verdicts(t testing.TB, check datamap.CatalogCheck, rows []map[string]any) []datamap.Verdict {
	t.Helper()
	verdicts, err := catalogOf(t, s).Satisfies(t.Context(), "addresses", check, rows)
	must(t, err == nil, "a constraint could not be evaluated: %v", err)
	return verdicts
}

// A store whose tables have no constraints decides nothing. The case then checks nothing.
func catalogDecidesItsConstraints(t testing.TB, h StoreHarness) {
	store := h.open(t)
	table, _ := store.catalog(t).Table("addresses")
	rows := append(streets("Main Street", "refused", nil, "refused"), map[string]any{"id": int64(1)})
	want := []datamap.Verdict{
		datamap.VerdictHolds, datamap.VerdictFails, datamap.VerdictHolds, datamap.VerdictFails, datamap.VerdictUndecided,
	}
	for _, check := range table.Checks {
		if slices.Equal(check.Columns, []string{"street"}) {
			got := store.verdicts(t, check, rows)
			assert(t, slices.Equal(got, want), "the verdicts about the constraint are %q, want %q", got, want)
		}
	}
}

func catalogDecidesNothingElse(t testing.TB, h StoreHarness) {
	store := h.open(t)
	for n := range 3 {
		got := store.verdicts(t, notOfTheTable(), slices.Repeat(streets("other"), n))
		want := slices.Repeat([]datamap.Verdict{datamap.VerdictUndecided}, n)
		assert(t, slices.Equal(got, want), "the verdicts about another constraint are %q, want %q", got, want)
	}
}
