package porttest

import (
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func restrictionWithoutARecordIsNil(t testing.TB, h StoreHarness) {
	id, other := subject(t, "acme", 1), subject(t, "acme", 2)
	store := h.withRestrictions(t, true, restrict(other, nil, 0), restrict(other, pointer("news"), 0))
	for scope, purpose := range scopes() {
		global, scoped := latestRestrictions(t, store, id, purpose)
		assert(t, global == nil && scoped == nil, "%s: a record of another subject is in force", scope)
		n := len(restrictionHistory(t, store, id, purpose))
		assert(t, n <= 0, "%s: there are %d records of another subject in the history", scope, n)
	}
}

func restrictionTakenInLastIsInForce(t testing.TB, h StoreHarness) {
	for _, inOne := range inOneAndMany {
		store := h.open(t)
		for i, instants := range intakes {
			for j, restricted := range []bool{true, false} {
				id := subject(t, "acme", int64(2*i+j))
				for scope, purpose := range scopes() {
					addRestrictions(t, store, inOne, ordered(id, purpose, "z", restricted, instants[0]),
						ordered(id, purpose, "a", !restricted, instants[1]), ordered(id, purpose, "last", restricted, instants[2]))
					if source := inForce(t, store, id, purpose); source != "last" {
						t.Errorf("%s: of records at %v s, %q is in force, want the one taken in last", scope, instants, source)
					}
				}
			}
		}
	}
}

func restrictionOfAPurposeIsNotGlobal(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	news, ads := ordered(id, pointer("news"), "news", true, 1), ordered(id, pointer("ads"), "ads", true, 2)
	for _, inOne := range inOneAndMany {
		store := h.withRestrictions(t, inOne, news, ads)
		if global, scoped := latestRestrictions(t, store, id, nil); global != nil || scoped != nil {
			t.Errorf("without a purpose, a record for a purpose is in force")
		}
		global, scoped := latestRestrictions(t, store, id, pointer("news"))
		assert(t, global == nil, "a record for a purpose is in force as a global one")
		assert(t, sourceOf(scoped) == "news", "for a purpose, in force is %q, want its own record", sourceOf(scoped))
		expectRecords(t, "global history", sourceName, restrictionHistory(t, store, id, nil))
		expectRecords(t, "scoped history", sourceName, restrictionHistory(t, store, id, pointer("news")), news)
	}
}

func restrictionOfAllComesBesideThatOfAPurpose(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	global, news := ordered(id, nil, "global", true, 0), ordered(id, pointer("news"), "news", false, 1)
	for _, inOne := range inOneAndMany {
		for _, records := range [][]domain.RestrictionRecord{{global, news}, {news, global}} {
			store := h.withRestrictions(t, inOne, records...)
			for _, test := range []struct{ purpose, global, scoped string }{
				{"", "global", ""}, {"news", "global", "news"}, {"ads", "global", ""},
			} {
				var purpose *string
				if test.purpose != "" {
					purpose = &test.purpose
				}
				global, scoped := latestRestrictions(t, store, id, purpose)
				if sourceOf(global) != test.global || sourceOf(scoped) != test.scoped {
					t.Errorf("for the purpose %q, in force are %q and %q, want %q and %q",
						test.purpose, sourceOf(global), sourceOf(scoped), test.global, test.scoped)
				}
			}
			expectRecords(t, "global history", sourceName, restrictionHistory(t, store, id, nil), global)
			expectRecords(t, "scoped history", sourceName, restrictionHistory(t, store, id, pointer("news")), news)
		}
	}
}

func restrictionHistoryIsInTheOrderOfIntake(t testing.TB, h StoreHarness) {
	for _, inOne := range inOneAndMany {
		store := h.open(t)
		for i, instants := range intakes {
			id := subject(t, "acme", int64(i))
			for scope, purpose := range scopes() {
				records := []domain.RestrictionRecord{
					ordered(id, purpose, "c", true, instants[0]), ordered(id, purpose, "a", false, instants[1]),
					ordered(id, purpose, "b", true, instants[2]),
				}
				addRestrictions(t, store, inOne, records...)
				expectRecords(t, scope+" history", sourceName, restrictionHistory(t, store, id, purpose), records...)
			}
		}
	}
}
