package porttest

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func restrictionWithoutARecordIsNil(t testing.TB, h StoreHarness) {
	id, other := subject(t, "acme", 1), subject(t, "acme", 2)
	store := h.withRestrictions(t, true, restrict(other, nil, 0), restrict(other, pointer("news"), 0))
	for scope, purpose := range scopes() {
		if global, scoped := latestRestrictions(t, store, id, purpose); global != nil || scoped != nil {
			t.Errorf("%s: a record of another subject is in force", scope)
		}
		if n := len(restrictionHistory(t, store, id, purpose)); n > 0 {
			t.Errorf("%s: there are %d records of another subject in the history", scope, n)
		}
	}
}

func restrictionLatestIsTheLaterOne(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for scope, purpose := range scopes() {
		for _, restricted := range []bool{true, false} {
			first, last := ordered(id, purpose, "first", !restricted, 0), ordered(id, purpose, "last", restricted, 0)
			last.RecordedAt = noon.Add(time.Microsecond)
			for _, inOne := range inOneAndMany {
				for _, records := range [][]domain.RestrictionRecord{{first, last}, {last, first}} {
					store := h.withRestrictions(t, inOne, records...)
					if source := inForce(t, store, id, purpose); source != "last" {
						t.Errorf("%s: in force is %q, want the last one", scope, source)
					}
				}
			}
		}
	}
}

func restrictionWinsATie(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for scope, purpose := range scopes() {
		placed, lifted := ordered(id, purpose, "placed", true, 0), ordered(id, purpose, "lifted", false, 0)
		lifted.RecordedAt = noon.Add(999) // the same microsecond
		for _, inOne := range inOneAndMany {
			for _, records := range [][]domain.RestrictionRecord{{placed, lifted}, {lifted, placed}} {
				store := h.withRestrictions(t, inOne, records...)
				if source := inForce(t, store, id, purpose); source != "placed" {
					t.Errorf("%s: a tie was decided for %q", scope, source)
				}
			}
		}
	}
}

func restrictionAppendedLastWinsAmongEquals(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for scope, purpose := range scopes() {
		for _, restricted := range []bool{true, false} {
			for _, inOne := range inOneAndMany {
				store := h.withRestrictions(t, inOne,
					ordered(id, purpose, "z", restricted, 0), ordered(id, purpose, "a", restricted, 0),
					ordered(id, purpose, "last", restricted, 0), ordered(id, purpose, "earlier", true, -1))
				if source := inForce(t, store, id, purpose); source != "last" {
					t.Errorf("%s: of equals, %q is in force, want the last one", scope, source)
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
		if global != nil {
			t.Errorf("a record for a purpose is in force as a global one")
		}
		if sourceOf(scoped) != "news" {
			t.Errorf("for a purpose, in force is %q, want its own record", sourceOf(scoped))
		}
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

func restrictionHistoryIsOldestFirst(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for scope, purpose := range scopes() {
		first, second := ordered(id, purpose, "first", true, 0), ordered(id, purpose, "second", false, 1)
		third := ordered(id, purpose, "third", true, 2)
		for _, inOne := range inOneAndMany {
			store := h.withRestrictions(t, inOne, third, first, second)
			expectRecords(t, scope+" history", sourceName, restrictionHistory(t, store, id, purpose), first, second, third)
		}
	}
}

func restrictionHistoryKeepsTheOrderOfAppending(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for scope, purpose := range scopes() {
		records := []domain.RestrictionRecord{
			ordered(id, purpose, "c", true, 0), ordered(id, purpose, "a", false, 0),
			ordered(id, purpose, "d", true, 0), ordered(id, purpose, "b", true, 0),
		}
		for _, inOne := range inOneAndMany {
			store := h.withRestrictions(t, inOne, records...)
			expectRecords(t, scope+" history", sourceName, restrictionHistory(t, store, id, purpose), records...)
		}
	}
}
