package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// TestConsentStore checks that a store keeps the promises of ports.ConsentStore:
//
//	promise                                                          case
//	a record comes back as it was appended                           consent record comes back as appended
//	its instant is kept to the microsecond, in UTC                   consent instant is in UTC and microseconds
//	a session reads what it has appended                             consent is read by its own session
//	without a record there is none in force                          consent without a record is nil
//	the later record is in force, whenever it was appended           consent latest is the later one
//	at the same instant a withdrawal is in force                     consent withdrawal wins a tie
//	of equals, the one appended last is in force                     consent appended last wins among equals
//	as of an instant, what was recorded then or before counts        consent as of an instant is inclusive
//	the history comes oldest first                                   consent history is oldest first
//	records of one instant come in the order of appending            consent history keeps the order of appending
//	a record is never changed or removed, not by its like either     consent ledger only grows
//	records of another purpose are never returned                    consent purposes are compared exactly
//	records of another subject are never returned                    consent subjects are kept apart
func TestConsentStore(t *testing.T, h StoreHarness) {
	t.Helper()
	runStore(t, h, consentCases)
}

var consentCases = []suiteCase[StoreHarness]{
	{"consent record comes back as appended", consentRecordComesBackAsAppended},
	{"consent instant is in UTC and microseconds", consentInstantIsInUTCAndMicroseconds},
	{"consent is read by its own session", consentIsReadByItsOwnSession},
	{"consent without a record is nil", consentWithoutARecordIsNil},
	{"consent latest is the later one", consentLatestIsTheLaterOne},
	{"consent withdrawal wins a tie", consentWithdrawalWinsATie},
	{"consent appended last wins among equals", consentAppendedLastWinsAmongEquals},
	{"consent as of an instant is inclusive", consentAsOfAnInstantIsInclusive},
	{"consent history is oldest first", consentHistoryIsOldestFirst},
	{"consent history keeps the order of appending", consentHistoryKeepsTheOrderOfAppending},
	{"consent ledger only grows", consentLedgerOnlyGrows},
	{"consent purposes are compared exactly", consentPurposesAreComparedExactly},
	{"consent subjects are kept apart", consentSubjectsAreKeptApart},
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
	appendAll(t, store, inOne, records, func(ctx context.Context, s ports.Session, record domain.ConsentRecord) error {
		return s.Consents().Append(ctx, record)
	})
	return store
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

// versionOf returns the policy version of a record, or nothing if there is no record.
func versionOf(record *domain.ConsentRecord) string {
	if record == nil {
		return ""
	}
	return record.PolicyVersion
}

func versionName(record domain.ConsentRecord) string { return record.PolicyVersion }
