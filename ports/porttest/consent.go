package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// TestConsentStore checks that a store keeps the promises of ports.ConsentStore.
func TestConsentStore(t *testing.T, h StoreHarness) {
	t.Helper()
	hold(t, consentPromises, h, h.Waive)
}

var consentPromises = []promise[StoreHarness]{
	promised("consent record comes back as appended", "a record comes back as it was appended",
		consentRecordComesBackAsAppended),
	promised("consent instant is in UTC and microseconds", "its instant is kept to the microsecond, in UTC",
		consentInstantIsInUTCAndMicroseconds),
	promised("consent is read by its own session", "a session reads what it has appended", consentIsReadByItsOwnSession),
	promised("consent without a record is nil", "without a record there is none in force", consentWithoutARecordIsNil),
	promised("consent taken in last is in force", "the record taken in last is in force, whatever its instant is",
		consentTakenInLastIsInForce),
	promised("consent as of an instant is inclusive", "so it is among those of an instant asked about, or before",
		consentAsOfAnInstantIsInclusive),
	promised("consent in force is one for each purpose", "each purpose has one record in force, all in order of intake",
		consentsInForceAreOneForEachPurpose),
	promised("consent history is in the order of intake", "the history comes in the order of intake",
		consentHistoryIsInTheOrderOfIntake),
	promised("consent ledger only grows", "a record is never changed or removed, not by its like either",
		consentLedgerOnlyGrows),
	promised("consent purposes are compared exactly", "records of another purpose are never returned",
		consentPurposesAreComparedExactly),
	promised("consent subjects are kept apart", "records of another subject are never returned",
		consentSubjectsAreKeptApart),
}

// grant is a consent that was given so many seconds after noon.
func grant(id domain.SubjectID, purpose string, seconds int) domain.ConsentRecord {
	return domain.ConsentRecord{
		SubjectID: id, Purpose: purpose, PolicyVersion: "v1", Granted: true, RecordedAt: after(seconds), Source: "api",
	}
}

// decided is a grant or a withdrawal under a policy version by which it is known.
func decided(id domain.SubjectID, version string, granted bool, seconds int) domain.ConsentRecord {
	record := grant(id, "news", seconds)
	record.PolicyVersion, record.Granted = version, granted
	return record
}

// withConsents opens a store and appends records, all in one session or each in one of its own.
func (h StoreHarness) withConsents(t testing.TB, inOne bool, records ...domain.ConsentRecord) Store {
	t.Helper()
	store := h.open(t)
	addConsents(t, store, inOne, records...)
	return store
}

// addConsents appends records, all in one session or each in one of its own.
func addConsents(t testing.TB, store Store, inOne bool, records ...domain.ConsentRecord) {
	t.Helper()
	appendAll(t, store, inOne, records, func(ctx context.Context, s ports.Session, record domain.ConsentRecord) error {
		return s.Consents().Append(ctx, record)
	})
}

// latestConsent returns the policy version of the consent for news that is in force, or nothing.
func latestConsent(t testing.TB, store Store, id domain.SubjectID, asOf *time.Time) (version string) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) error {
		latest, err := s.Consents().Latest(ctx, id, "news", asOf)
		version = versionOf(latest)
		return err
	})
	return version
}

// consentHistory returns the history, from a session of its own.
func consentHistory(t testing.TB, store Store, id domain.SubjectID, purpose string) (history []domain.ConsentRecord) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		history, err = s.Consents().History(ctx, id, purpose)
		return err
	})
	return history
}

// consentsInForce returns the records in force of all purposes, from a session of its own.
func consentsInForce(t testing.TB, store Store, id domain.SubjectID) (inForce []domain.ConsentRecord) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		inForce, err = s.Consents().InForce(ctx, id)
		return err
	})
	return inForce
}

// versionOf returns the policy version of a record, or nothing if there is no record.
func versionOf(record *domain.ConsentRecord) string {
	if record == nil {
		return ""
	}
	return record.PolicyVersion
}

func versionName(record domain.ConsentRecord) string { return record.PolicyVersion }
