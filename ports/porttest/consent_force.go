package porttest

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func consentWithoutARecordIsNil(t testing.TB, h StoreHarness) {
	id, other := subject(t, "acme", 1), subject(t, "acme", 2)
	elsewhere := grant(id, "ads", 0)
	store := h.withConsents(t, true, grant(other, "news", 0), elsewhere)
	if version := latestConsent(t, store, id, nil); version != "" {
		t.Errorf("a record of another subject or purpose is in force")
	}
	if n := len(consentHistory(t, store, id, "news")); n > 0 {
		t.Errorf("there are %d records in the history, of another subject or purpose", n)
	}
}

func consentLatestIsTheLaterOne(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for _, later := range []bool{true, false} { // granted or withdrawn
		first, last := decided(id, "first", !later, 0), decided(id, "last", later, 0)
		last.RecordedAt = noon.Add(time.Microsecond)
		for _, inOne := range inOneAndMany {
			for _, records := range [][]domain.ConsentRecord{{first, last}, {last, first}} {
				store := h.withConsents(t, inOne, records...)
				if version := latestConsent(t, store, id, nil); version != "last" {
					t.Errorf("in force is %q, want the last one (which says %v)", version, later)
				}
			}
		}
	}
}

func consentWithdrawalWinsATie(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	granted, withdrawn := decided(id, "granted", true, 0), decided(id, "withdrawn", false, 0)
	granted.RecordedAt = noon.Add(999) // the same microsecond
	for _, inOne := range inOneAndMany {
		for _, records := range [][]domain.ConsentRecord{{granted, withdrawn}, {withdrawn, granted}} {
			store := h.withConsents(t, inOne, records...)
			for _, asOf := range []*time.Time{nil, pointer(noon), pointer(after(1))} {
				if version := latestConsent(t, store, id, asOf); version != "withdrawn" {
					t.Errorf("a tie was decided for %q", version)
				}
			}
		}
	}
}

func consentAppendedLastWinsAmongEquals(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for _, granted := range []bool{true, false} {
		for _, inOne := range inOneAndMany {
			store := h.withConsents(t, inOne,
				decided(id, "z", granted, 0), decided(id, "a", granted, 0), decided(id, "last", granted, 0),
				decided(id, "earlier", false, -1))
			if version := latestConsent(t, store, id, nil); version != "last" {
				t.Errorf("of equals, %q is in force, want the last one", version)
			}
		}
	}
}

func consentAsOfAnInstantIsInclusive(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	east := time.FixedZone("east", 5*3600)
	store := h.withConsents(t, false,
		decided(id, "second", false, 10), decided(id, "first", true, 0), decided(id, "third", true, 20))
	for _, test := range []struct {
		asOf time.Time
		want string
	}{
		{after(0).Add(-time.Microsecond), ""},
		{after(0), "first"},
		{after(0).In(east), "first"},
		{after(0).Add(999), "first"},
		{after(10).Add(-time.Microsecond), "first"},
		{after(10).Add(-1), "first"},
		{after(10), "second"},
		{after(15).In(east), "second"},
		{after(20), "third"},
		{after(3600), "third"},
	} {
		if version := latestConsent(t, store, id, &test.asOf); version != test.want {
			t.Errorf("as of %v, %q is in force, want %q", test.asOf, version, test.want)
		}
	}
}

func consentHistoryIsOldestFirst(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	first, second, third := decided(id, "first", true, 0), decided(id, "second", false, 1), decided(id, "third", true, 2)
	for _, inOne := range inOneAndMany {
		store := h.withConsents(t, inOne, third, first, second)
		expectRecords(t, "the history", versionName, consentHistory(t, store, id, "news"), first, second, third)
	}
}

func consentHistoryKeepsTheOrderOfAppending(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	records := []domain.ConsentRecord{
		decided(id, "c", true, 0), decided(id, "a", false, 0), decided(id, "d", true, 0), decided(id, "b", true, 0),
	}
	for _, inOne := range inOneAndMany {
		store := h.withConsents(t, inOne, records...)
		expectRecords(t, "the history", versionName, consentHistory(t, store, id, "news"), records...)
	}
}
