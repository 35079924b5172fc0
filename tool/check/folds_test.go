package check_test

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestAFindingNamesAllTablesWithoutAnIndex(t *testing.T) {
	w := newWorld()
	unlinked("visits", "calls")(w)
	for _, table := range []string{"orders", "sessions", "visits", "calls"} {
		w.live(table).ForeignKeys = []datamap.CatalogForeignKey{foreignKey("user_id", "users", datamap.ActionNone)}
	}
	for _, table := range []string{"orders", "visits", "calls"} {
		noIndex(table, 5000)(w)
	}
	if found := w.findings(t); len(found) != 3 {
		t.Errorf("of three tables, got %v", found)
	}
	noIndex("sessions", -1)(w)
	found := w.findings(t)
	const want = "4 tables lack an index for a search of an erasure, which scans the complete table: calls.user_id " +
		"(about 5000 rows), orders.user_id (about 5000 rows), sessions.user_id, visits.user_id (about 5000 rows)."
	if len(found) != 1 || found[0].Reason != want || found[0].Where() != "orders" {
		t.Errorf("got %v", found)
	}
	accepted("index-missing", "calls", "user_id")(w)
	if found = w.findings(t); len(found) != 3 {
		t.Errorf("with an acceptance, got %v", found)
	}
}

func TestOneAcceptanceEndsAFindingAboutSeveralPlaces(t *testing.T) {
	accept := func(table, object string) func(*world) {
		return func(w *world) {
			w.accepted = append(w.accepted, datamap.Acceptance{
				Rule: "view-copies", Table: table, Object: object, Reason: "refreshed each night", Until: "2026-12-31",
			})
		}
	}
	for name, test := range map[string]struct {
		change func(*world)
		want   []string
	}{
		"none":             {func(*world) {}, []string{"view-copies a all"}},
		"the first view":   {accept("a", "all"), nil},
		"another view":     {accept("c", "all"), nil},
		"a view alone":     {accept("a", ""), []string{"view-copies b all"}},
		"a named view":     {accept("a", "a"), []string{"view-copies b all"}},
		"one and the rest": {both(accept("a", "a"), accept("b", "all")), nil},
	} {
		w := newWorld()
		for _, view := range []string{"a", "b", "c", "d", "e"} {
			w.addTable(view, "email").Kind = datamap.KindMatView
			w.live(view).Reads = []string{"users"}
		}
		test.change(w)
		var got []string
		for _, f := range w.findings(t) {
			got = append(got, f.Code+" "+f.Where()+" "+f.Object)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
