package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// TestRestrictionStore checks that a store keeps the promises of ports.RestrictionStore:
//
//	promise                                                          case
//	a record comes back as it was appended                           restriction record comes back as appended
//	its instant is kept to the microsecond, in UTC                   restriction instant is in UTC and microseconds
//	a session reads what it has appended                             restriction is read by its own session
//	without a record there is none in force                          restriction without a record is nil
//	the record taken in last is in force, whatever its instant is    restriction taken in last is in force
//	records for a purpose say nothing about all processing           restriction of a purpose is not global
//	the global one comes along with that for a purpose               restriction of all comes beside that of a purpose
//	the history comes in the order of intake                         restriction history is in the order of intake
//	a record is never changed or removed, not by its like either     restriction ledger only grows
//	all reasons of the subject are cleared, and nothing else is      restriction reasons are cleared
//	a reason that is given after that stays                          restriction reasons given later stay
//	what was cleared is there again when the session rolls back      restriction reasons come back with a rollback
//	records for another purpose are never returned                   restriction purposes are compared exactly
//	records of another subject are never returned                    restriction subjects are kept apart
func TestRestrictionStore(t *testing.T, h StoreHarness) {
	t.Helper()
	runStore(t, h, restrictionCases)
}

var restrictionCases = []suiteCase[StoreHarness]{
	{"restriction record comes back as appended", restrictionRecordComesBackAsAppended},
	{"restriction instant is in UTC and microseconds", restrictionInstantIsInUTCAndMicroseconds},
	{"restriction is read by its own session", restrictionIsReadByItsOwnSession},
	{"restriction without a record is nil", restrictionWithoutARecordIsNil},
	{"restriction taken in last is in force", restrictionTakenInLastIsInForce},
	{"restriction of a purpose is not global", restrictionOfAPurposeIsNotGlobal},
	{"restriction of all comes beside that of a purpose", restrictionOfAllComesBesideThatOfAPurpose},
	{"restriction history is in the order of intake", restrictionHistoryIsInTheOrderOfIntake},
	{"restriction ledger only grows", restrictionLedgerOnlyGrows},
	{"restriction reasons are cleared", restrictionReasonsAreCleared},
	{"restriction reasons given later stay", restrictionReasonsGivenLaterStay},
	{"restriction reasons come back with a rollback", restrictionReasonsComeBackWithARollback},
	{"restriction purposes are compared exactly", restrictionPurposesAreComparedExactly},
	{"restriction subjects are kept apart", restrictionSubjectsAreKeptApart},
}

// restrict is a restriction that was placed so many seconds after noon.
func restrict(id domain.SubjectID, purpose *string, seconds int) domain.RestrictionRecord {
	return domain.RestrictionRecord{
		SubjectID: id, Purpose: purpose, Restricted: true, RecordedAt: after(seconds), Source: "api",
	}
}

// ordered is a restriction or the lifting of one, from a source by which it is known.
func ordered(id domain.SubjectID, purpose *string, source string, restricted bool, seconds int) domain.RestrictionRecord {
	record := restrict(id, purpose, seconds)
	record.Source, record.Restricted = source, restricted
	return record
}

// scopes are the two kinds of records: global ones, and those for a purpose.
func scopes() map[string]*string {
	return map[string]*string{"global": nil, "scoped": pointer("news")}
}

// withRestrictions opens a store and appends records, all in one session or each in one of its own.
func (h StoreHarness) withRestrictions(t testing.TB, inOne bool, records ...domain.RestrictionRecord) Store {
	t.Helper()
	store := h.open(t)
	addRestrictions(t, store, inOne, records...)
	return store
}

// addRestrictions appends records, all in one session or each in one of its own.
func addRestrictions(t testing.TB, store Store, inOne bool, records ...domain.RestrictionRecord) {
	t.Helper()
	appendAll(t, store, inOne, records, func(ctx context.Context, s ports.Session, record domain.RestrictionRecord) error {
		return s.Restrictions().Append(ctx, record)
	})
}

// latestRestrictions returns the records in force, from a session of its own.
func latestRestrictions(
	t testing.TB, store Store, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		global, scoped, err = s.Restrictions().Latest(ctx, id, purpose)
		return err
	})
	return global, scoped
}

// inForce returns the source of the record in force: the global one, or the one for the purpose if there is a purpose.
func inForce(t testing.TB, store Store, id domain.SubjectID, purpose *string) string {
	t.Helper()
	return sourceOf(latestOf(latestRestrictions(t, store, id, purpose))(purpose))
}

// latestOf picks the global record, or the scoped one if there is a purpose.
func latestOf(global, scoped *domain.RestrictionRecord) func(purpose *string) *domain.RestrictionRecord {
	return func(purpose *string) *domain.RestrictionRecord {
		if purpose != nil {
			return scoped
		}
		return global
	}
}

// restrictionHistory returns the history, from a session of its own.
func restrictionHistory(
	t testing.TB, store Store, id domain.SubjectID, purpose *string,
) (history []domain.RestrictionRecord) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		history, err = s.Restrictions().History(ctx, id, purpose)
		return err
	})
	return history
}

// sourceOf returns the source of a record, or nothing if there is no record.
func sourceOf(record *domain.RestrictionRecord) string {
	if record == nil {
		return ""
	}
	return record.Source
}

func sourceName(record domain.RestrictionRecord) string { return record.Source }
