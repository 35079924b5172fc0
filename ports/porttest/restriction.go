package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// TestRestrictionStore checks that a store keeps the promises of ports.RestrictionStore.
func TestRestrictionStore(t *testing.T, h StoreHarness) {
	t.Helper()
	hold(t, restrictionPromises, h, h.Waive)
}

var restrictionPromises = []promise[StoreHarness]{
	promised("restriction record comes back as appended", "a record comes back as it was appended",
		restrictionRecordComesBackAsAppended),
	promised("restriction instant is in UTC and microseconds", "its instant is kept to the microsecond, in UTC",
		restrictionInstantIsInUTCAndMicroseconds),
	promised("restriction is read by its own session", "a session reads what it has appended",
		restrictionIsReadByItsOwnSession),
	promised("restriction without a record is nil", "without a record there is none in force",
		restrictionWithoutARecordIsNil),
	promised("restriction taken in last is in force", "the record taken in last is in force, whatever its instant is",
		restrictionTakenInLastIsInForce),
	promised("restriction of a purpose is not global", "records for a purpose say nothing about all processing",
		restrictionOfAPurposeIsNotGlobal),
	promised("restriction of all comes beside that of a purpose", "the global one comes along with that for a purpose",
		restrictionOfAllComesBesideThatOfAPurpose),
	promised("restriction history is in the order of intake", "the history comes in the order of intake",
		restrictionHistoryIsInTheOrderOfIntake),
	promised("restriction ledger only grows", "a record is never changed or removed, not by its like either",
		restrictionLedgerOnlyGrows),
	promised("restriction reasons are cleared", "all reasons of the subject are cleared, and nothing else is",
		restrictionReasonsAreCleared),
	promised("restriction reasons given later stay", "a reason that is given after that stays",
		restrictionReasonsGivenLaterStay),
	promised("restriction reasons come back with a rollback", "what was cleared is there again when the session rolls back",
		restrictionReasonsComeBackWithARollback),
	promised("restriction purposes are compared exactly", "records for another purpose are never returned",
		restrictionPurposesAreComparedExactly),
	promised("restriction subjects are kept apart", "records of another subject are never returned",
		restrictionSubjectsAreKeptApart),
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
func scopes() map[string]*string { return map[string]*string{"global": nil, "scoped": pointer("news")} }

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
