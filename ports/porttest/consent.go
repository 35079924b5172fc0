package porttest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestConsentStore checks that a store keeps the promises of ports.ConsentStore.
func TestConsentStore(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.Hold(t, consentPromises, h, h.Waive)
}

var consentPromises = []promise.Promise[StoreHarness]{
	that(consentRecordComesBackAsAppended, "A record is returned with the values that were appended."),
	that(consentInstantIsInUTCAndMicroseconds,
		"The instant of a record is returned in UTC and rounded down to the microsecond."),
	that(consentIsReadByItsOwnSession, "A session reads the records that it has appended."),
	that(consentWithoutARecordIsNil, "Latest returns nil if the purpose has no record."),
	that(consentRecordedLastIsInForce, "The record that was appended last is in force, regardless of its instant."),
	that(consentAsOfAnInstantIsInclusive, "Latest with asOf considers the records whose instant is asOf or earlier."),
	that(consentInForceIsOneForEachPurpose, "InForce returns one record for each purpose, in the order of recording."),
	that(consentHistoryIsInTheOrderOfRecording, "History returns the records in the order of recording."),
	that(consentLedgerOnlyGrows,
		"An append never changes or removes a record, even if the new record equals an older one."),
	that(consentPurposesAreComparedExactly, "Queries never return a record of another purpose."),
	that(consentSubjectsAreKeptApart, "Queries never return a record of another subject."),
}

// grant returns a consent. The parameter seconds is the time from noon to the instant of the consent, in seconds.
func grant(id domain.SubjectID, purpose string, seconds int) domain.ConsentRecord {
	return domain.ConsentRecord{
		SubjectID: id, Purpose: purpose, PolicyVersion: "v1", Granted: true, RecordedAt: after(seconds), Source: "api",
	}
}

// consentRecord returns a consent or a withdrawal. A case identifies the record by its policy version. The parameter
// seconds is the time from noon to the instant of the record, in seconds.
func consentRecord(id domain.SubjectID, version string, granted bool, seconds int) domain.ConsentRecord {
	record := grant(id, "news", seconds)
	record.PolicyVersion, record.Granted = version, granted
	return record
}

var consents = ledger[domain.ConsentRecord]{
	scopes: map[string]*string{"scoped": pointer("news")},
	record: func(of domain.SubjectID, purpose *string, name string, yes bool, seconds int) domain.ConsentRecord {
		record := consentRecord(of, name, yes, seconds)
		record.Purpose = *purpose
		return record
	},
	values: func(of domain.SubjectID, purpose *string) (records []domain.ConsentRecord) {
		for i, text := range append(distinctTexts(), strings.Repeat("v", domain.MaxTextLength)) {
			records = append(records, domain.ConsentRecord{
				SubjectID: of, Purpose: *purpose, PolicyVersion: text, Granted: i%2 == 0, RecordedAt: after(i), Source: text,
			})
		}
		return records
	},
	at: func(record *domain.ConsentRecord) *time.Time { return &record.RecordedAt },
	of: func(record domain.ConsentRecord) (domain.SubjectID, *string) {
		return record.SubjectID, &record.Purpose
	},
	name: func(record domain.ConsentRecord) string { return record.PolicyVersion },
	append: func(ctx context.Context, s ports.Session, record domain.ConsentRecord) error {
		return s.Consents().Append(ctx, record)
	},
	history: func(
		ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string,
	) ([]domain.ConsentRecord, error) {
		return s.Consents().History(ctx, id, *purpose)
	},
	latest: func(
		ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string,
	) (*domain.ConsentRecord, error) {
		return s.Consents().Latest(ctx, id, *purpose, nil)
	},
}

func consentRecordComesBackAsAppended(t testing.TB, h StoreHarness) {
	consents.comesBackAsAppended(t, h)
}
func consentIsReadByItsOwnSession(t testing.TB, h StoreHarness) { consents.isReadByItsOwnSession(t, h) }
func consentRecordedLastIsInForce(t testing.TB, h StoreHarness) { consents.recordedLastIsInForce(t, h) }
func consentLedgerOnlyGrows(t testing.TB, h StoreHarness)       { consents.onlyGrows(t, h) }
func consentSubjectsAreKeptApart(t testing.TB, h StoreHarness)  { consents.subjectsAreKeptApart(t, h) }

func consentInstantIsInUTCAndMicroseconds(t testing.TB, h StoreHarness) {
	consents.instantsAreInUTCAndMicroseconds(t, h)
}

func consentHistoryIsInTheOrderOfRecording(t testing.TB, h StoreHarness) {
	consents.historyIsInTheOrderOfRecording(t, h)
}

func consentPurposesAreComparedExactly(t testing.TB, h StoreHarness) {
	consents.purposesAreComparedExactly(t, h)
}

// latestConsent returns the policy version of the record that is in force for the purpose news. It returns "" if there
// is no such record.
func latestConsent(t testing.TB, store Store, id domain.SubjectID, asOf *time.Time) (version string) {
	t.Helper()
	return consents.nameOf(read(t, store, func(ctx context.Context, s ports.Session) (*domain.ConsentRecord, error) {
		return s.Consents().Latest(ctx, id, "news", asOf)
	}))
}

func consentsInForce(t testing.TB, store Store, id domain.SubjectID) (inForce []domain.ConsentRecord) {
	t.Helper()
	return read(t, store, func(ctx context.Context, s ports.Session) ([]domain.ConsentRecord, error) {
		return s.Consents().InForce(ctx, id)
	})
}

func consentWithoutARecordIsNil(t testing.TB, h StoreHarness) {
	id, other := subject(t, "acme", 1), subject(t, "acme", 2)
	elsewhere := grant(id, "ads", 0)
	store := consents.openWith(t, h, true, grant(other, "news", 0), elsewhere)
	version := latestConsent(t, store, id, nil)
	assert(t, version == "", "a record of another subject or purpose is in force")
	if n := len(consents.all(t, store, id, pointer("news"))); n > 0 {
		t.Errorf("the history has %d records of another subject or purpose", n)
	}
	if n := len(consentsInForce(t, store, subject(t, "acme", 3))); n > 0 {
		t.Errorf("%d records of another subject are in force", n)
	}
}

func consentAsOfAnInstantIsInclusive(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	east := time.FixedZone("east", 5*3600)
	store := consents.openWith(t, h, false,
		consentRecord(id, "first", true, 0), consentRecord(id, "ahead", true, 10),
		consentRecord(id, "third", false, 5), consentRecord(id, "fourth", true, 20))
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
		{after(10), "third"}, // recorded after the record with the later instant
		{after(15).In(east), "third"},
		{after(20), "fourth"},
		{after(3600), "fourth"},
	} {
		version := latestConsent(t, store, id, &test.asOf)
		assert(t, version == test.want, "as of %v, %q is in force, want %q", test.asOf, version, test.want)
	}
}

func consentInForceIsOneForEachPurpose(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	of := func(purpose, version string, granted bool, seconds int) domain.ConsentRecord {
		record := consentRecord(id, version, granted, seconds)
		record.Purpose = purpose
		return record
	}
	news, ads := of("news", "news-2", true, -5), of("ads", "ads-2", false, 0)
	tracking := of("Ads", "tracking", true, 1)
	for _, inOne := range inOneAndMany {
		store := consents.openWith(t, h, inOne, of("ads", "ads-1", true, 60), of("news", "news-1", false, 60),
			tracking, news, ads, grant(subject(t, "acme", 2), "ads", 0))
		consents.expect(t, "in force", consentsInForce(t, store, id), tracking, news, ads)
		do(t, store, func(ctx context.Context, s ports.Session) error {
			late := of("Ads", "late", false, -60)
			if err := s.Consents().Append(ctx, late); err != nil {
				return err
			}
			inForce, err := s.Consents().InForce(ctx, id)
			expectRecords(t, "in force after an append", consents.name, inForce, news, ads, late)
			return err
		})
	}
}
