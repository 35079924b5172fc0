package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func consentWithoutARecordIsNil(t testing.TB, h StoreHarness) {
	id, other := subject(t, "acme", 1), subject(t, "acme", 2)
	elsewhere := grant(id, "ads", 0)
	store := h.withConsents(t, true, grant(other, "news", 0), elsewhere)
	version := latestConsent(t, store, id, nil)
	assert(t, version == "", "a record of another subject or purpose is in force")
	if n := len(consentHistory(t, store, id, "news")); n > 0 {
		t.Errorf("there are %d records in the history, of another subject or purpose", n)
	}
	if n := len(consentsInForce(t, store, subject(t, "acme", 3))); n > 0 {
		t.Errorf("there are %d records in force, of another subject", n)
	}
}

// intakes are the same instants in several orders, as clocks of several nodes give them.
var intakes = [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {0, 0, 0}, {3600, -3600, 0}}

func consentTakenInLastIsInForce(t testing.TB, h StoreHarness) {
	for _, inOne := range inOneAndMany {
		store := h.open(t)
		for i, instants := range intakes {
			for j, granted := range []bool{true, false} {
				id := subject(t, "acme", int64(2*i+j))
				addConsents(t, store, inOne, decided(id, "z", granted, instants[0]),
					decided(id, "a", !granted, instants[1]), decided(id, "last", granted, instants[2]))
				if version := latestConsent(t, store, id, nil); version != "last" {
					t.Errorf("of records at %v s, %q is in force, want the one taken in last", instants, version)
				}
				if version := latestConsent(t, store, id, pointer(after(7200))); version != "last" {
					t.Errorf("as of a later instant %q is in force, want the one taken in last", version)
				}
			}
		}
	}
}

func consentAsOfAnInstantIsInclusive(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	east := time.FixedZone("east", 5*3600)
	store := h.withConsents(t, false,
		decided(id, "first", true, 0), decided(id, "ahead", true, 10), decided(id, "third", false, 5), decided(id, "fourth", true, 20))
	for _, test := range []struct {
		asOf time.Time
		want string
	}{
		{after(0).Add(-time.Microsecond), ""},
		{after(0), "first"},
		{after(0).In(east), "first"},
		{after(0).Add(999), "first"},
		{after(5).Add(-time.Microsecond), "first"},
		{after(5).Add(-1), "first"},
		{after(5), "third"},
		{after(10), "third"}, // which came after the one that was ahead
		{after(15).In(east), "third"},
		{after(20), "fourth"},
		{after(3600), "fourth"},
	} {
		version := latestConsent(t, store, id, &test.asOf)
		assert(t, version == test.want, "as of %v, %q is in force, want %q", test.asOf, version, test.want)
	}
}

func consentsInForceAreOneForEachPurpose(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	of := func(purpose, version string, granted bool, seconds int) domain.ConsentRecord {
		record := decided(id, version, granted, seconds)
		record.Purpose = purpose
		return record
	}
	news, ads := of("news", "news-2", true, -5), of("ads", "ads-2", false, 0)
	tracking := of("Ads", "tracking", true, 1)
	for _, inOne := range inOneAndMany {
		store := h.withConsents(t, inOne, of("ads", "ads-1", true, 60), of("news", "news-1", false, 60),
			tracking, news, ads, grant(subject(t, "acme", 2), "ads", 0))
		expectWhole(t, "in force", versionName, inUTC(consentsInForce(t, store, id)), tracking, news, ads)
		do(t, store, func(ctx context.Context, s ports.Session) error {
			late := of("Ads", "late", false, -60)
			if err := s.Consents().Append(ctx, late); err != nil {
				return err
			}
			inForce, err := s.Consents().InForce(ctx, id)
			expectRecords(t, "in force after an append", versionName, inForce, news, ads, late)
			return err
		})
	}
}

func consentHistoryIsInTheOrderOfIntake(t testing.TB, h StoreHarness) {
	for _, inOne := range inOneAndMany {
		store := h.open(t)
		for i, instants := range intakes {
			id := subject(t, "acme", int64(i))
			records := []domain.ConsentRecord{
				decided(id, "c", true, instants[0]), decided(id, "a", false, instants[1]), decided(id, "b", true, instants[2]),
			}
			addConsents(t, store, inOne, records...)
			expectRecords(t, "the history", versionName, consentHistory(t, store, id, "news"), records...)
		}
	}
}
