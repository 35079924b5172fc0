package porttest

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestRestrictionStore checks that a store keeps the promises of ports.RestrictionStore.
func TestRestrictionStore(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.Hold(t, restrictionPromises, h, h.Waive)
}

var restrictionPromises = []promise.Promise[StoreHarness]{
	that(restrictionRecordComesBackAsAppended, "A record is returned with the values that were appended."),
	that(restrictionInstantIsInUTCAndMicroseconds,
		"The instant of a record is returned in UTC and rounded down to the microsecond."),
	that(restrictionIsReadByItsOwnSession, "A session reads the records that it has appended."),
	that(restrictionWithoutARecordIsNil, "Latest returns nil if there is no record."),
	that(restrictionRecordedLastIsInForce, "The record that was appended last is in force, regardless of its instant."),
	that(restrictionOfAPurposeIsNotGlobal, "A record for a purpose does not restrict all processing."),
	that(restrictionQueryReturnsGlobalAndPurposeRecord,
		"Latest for a purpose returns the global record and the record for the purpose."),
	that(restrictionHistoryIsInTheOrderOfRecording, "History returns the records in the order of recording."),
	that(restrictionLedgerOnlyGrows,
		"An append never changes or removes a record, even if the new record equals an older one."),
	that(restrictionReasonsAreCleared, "ClearReasons clears all reasons of the subject and changes nothing else."),
	that(restrictionReasonsGivenLaterStay, "ClearReasons does not affect a reason that is appended later."),
	that(restrictionReasonsComeBackWithARollback, "A rollback restores the reasons that the session has cleared."),
	that(restrictionPurposesAreComparedExactly, "Queries never return a record for another purpose."),
	that(restrictionSubjectsAreKeptApart, "Queries never return a record of another subject."),
}

// restrict returns a restriction. The parameter seconds is the time from noon to the instant of the restriction, in
// seconds.
func restrict(id domain.SubjectID, purpose *string, seconds int) domain.RestrictionRecord {
	return domain.RestrictionRecord{
		SubjectID: id, Purpose: purpose, Restricted: true, RecordedAt: after(seconds), Source: "api",
	}
}

// restrictionRecord returns a restriction, or the lifting of a restriction if restricted is false. A case identifies
// the record by its source. The parameter seconds is the time from noon to the instant of the record, in seconds.
func restrictionRecord(
	id domain.SubjectID, purpose *string, source string, restricted bool, seconds int,
) domain.RestrictionRecord {
	record := restrict(id, purpose, seconds)
	record.Source, record.Restricted = source, restricted
	return record
}

var restrictions = ledger[domain.RestrictionRecord]{
	scopes: map[string]*string{"global": nil, "scoped": pointer("news")},
	record: restrictionRecord,
	values: func(of domain.SubjectID, purpose *string) (records []domain.RestrictionRecord) {
		reasons := []*string{nil, pointer("")} // nil and "" are different
		for _, text := range distinctTexts() {
			reasons = append(reasons, pointer(text))
		}
		for i, reason := range reasons {
			record := restrictionRecord(of, purpose, strconv.Itoa(i), i%2 == 0, i)
			record.Reason = reason
			records = append(records, record)
		}
		return records
	},
	at: func(record *domain.RestrictionRecord) *time.Time { return &record.RecordedAt },
	of: func(record domain.RestrictionRecord) (domain.SubjectID, *string) {
		return record.SubjectID, record.Purpose
	},
	name: func(record domain.RestrictionRecord) string { return record.Source },
	append: func(ctx context.Context, s ports.Session, record domain.RestrictionRecord) error {
		return s.Restrictions().Append(ctx, record)
	},
	history: func(
		ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string,
	) ([]domain.RestrictionRecord, error) {
		return s.Restrictions().History(ctx, id, purpose)
	},
	latest: func(
		ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string,
	) (*domain.RestrictionRecord, error) {
		global, scoped, err := s.Restrictions().Latest(ctx, id, purpose)
		if purpose != nil {
			global = scoped
		}
		return global, err
	},
}

func restrictionIsReadByItsOwnSession(t testing.TB, h StoreHarness) {
	restrictions.isReadByItsOwnSession(t, h)
}

func restrictionRecordedLastIsInForce(t testing.TB, h StoreHarness) {
	restrictions.recordedLastIsInForce(t, h)
}
func restrictionLedgerOnlyGrows(t testing.TB, h StoreHarness) { restrictions.onlyGrows(t, h) }
func restrictionSubjectsAreKeptApart(t testing.TB, h StoreHarness) {
	restrictions.subjectsAreKeptApart(t, h)
}

func restrictionRecordComesBackAsAppended(t testing.TB, h StoreHarness) {
	restrictions.comesBackAsAppended(t, h)
}

func restrictionInstantIsInUTCAndMicroseconds(t testing.TB, h StoreHarness) {
	restrictions.instantsAreInUTCAndMicroseconds(t, h)
}

func restrictionHistoryIsInTheOrderOfRecording(t testing.TB, h StoreHarness) {
	restrictions.historyIsInTheOrderOfRecording(t, h)
}

func restrictionPurposesAreComparedExactly(t testing.TB, h StoreHarness) {
	restrictions.purposesAreComparedExactly(t, h)
}

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

func restrictionWithoutARecordIsNil(t testing.TB, h StoreHarness) {
	id, other := subject(t, "acme", 1), subject(t, "acme", 2)
	store := restrictions.openWith(t, h, true, restrict(other, nil, 0), restrict(other, pointer("news"), 0))
	for scope, purpose := range restrictions.scopes {
		global, scoped := latestRestrictions(t, store, id, purpose)
		assert(t, global == nil && scoped == nil, "%s: a record of another subject is in force", scope)
		n := len(restrictions.all(t, store, id, purpose))
		assert(t, n <= 0, "%s: the history has %d records of another subject", scope, n)
	}
}

func restrictionOfAPurposeIsNotGlobal(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	news := restrictionRecord(id, pointer("news"), "news", true, 1)
	ads := restrictionRecord(id, pointer("ads"), "ads", true, 2)
	for _, inOne := range inOneAndMany {
		store := restrictions.openWith(t, h, inOne, news, ads)
		global, scoped := latestRestrictions(t, store, id, nil)
		assert(t, global == nil && scoped == nil, "without a purpose, a record for a purpose is in force")
		global, scoped = latestRestrictions(t, store, id, pointer("news"))
		assert(t, global == nil, "a record for a purpose is in force as a global record")
		assert(t, restrictions.nameOf(scoped) == "news",
			"for a purpose, the record in force is %q, want the record of the purpose", restrictions.nameOf(scoped))
		expectRecords(t, "global history", restrictions.name, restrictions.all(t, store, id, nil))
		expectRecords(t, "scoped history", restrictions.name, restrictions.all(t, store, id, pointer("news")), news)
	}
}

func restrictionQueryReturnsGlobalAndPurposeRecord(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	global, news := restrictionRecord(id, nil, "global", true, 0), restrictionRecord(id, pointer("news"), "news", false, 1)
	for _, inOne := range inOneAndMany {
		for _, records := range [][]domain.RestrictionRecord{{global, news}, {news, global}} {
			store := restrictions.openWith(t, h, inOne, records...)
			for _, test := range []struct{ purpose, global, scoped string }{
				{"", "global", ""}, {"news", "global", "news"}, {"ads", "global", ""},
			} {
				var purpose *string
				if test.purpose != "" {
					purpose = &test.purpose
				}
				global, scoped := latestRestrictions(t, store, id, purpose)
				if restrictions.nameOf(global) != test.global || restrictions.nameOf(scoped) != test.scoped {
					t.Errorf("for the purpose %q, the records in force are %q and %q, want %q and %q",
						test.purpose, restrictions.nameOf(global), restrictions.nameOf(scoped), test.global, test.scoped)
				}
			}
			expectRecords(t, "global history", restrictions.name, restrictions.all(t, store, id, nil), global)
			expectRecords(t, "scoped history", restrictions.name, restrictions.all(t, store, id, pointer("news")), news)
		}
	}
}

// withReason returns a restriction with a reason. A case identifies the record by its source.
func withReason(id domain.SubjectID, purpose *string, source, reason string) domain.RestrictionRecord {
	record := restrictionRecord(id, purpose, source, true, 0)
	record.Reason = &reason
	return record
}

func withoutReason(record domain.RestrictionRecord) domain.RestrictionRecord {
	record.Reason = nil
	return record
}

// expectReasons checks the complete history, including the reasons. The wanted records have the same subject and
// purpose.
func expectReasons(t testing.TB, store Store, want ...domain.RestrictionRecord) {
	t.Helper()
	restrictions.expect(t, "the history", restrictions.all(t, store, want[0].SubjectID, want[0].Purpose), want...)
}

func restrictionReasonsAreCleared(t testing.TB, h StoreHarness) {
	id, other := subject(t, "acme", 1), subject(t, "acme", 2)
	for _, inOne := range inOneAndMany {
		global, lifted := withReason(id, nil, "global", "wrong"), withReason(id, nil, "lifted", "right again")
		lifted.Restricted = false
		silent, scoped := restrictionRecord(id, nil, "silent", true, 5), withReason(id, pointer("news"), "scoped", "")
		kept := withReason(other, nil, "another", "too many")
		store := restrictions.openWith(t, h, inOne, global, lifted, silent, scoped, kept)
		own := withReason(id, nil, "own", "of the same session")
		do(t, store, func(ctx context.Context, s ports.Session) error {
			return errors.Join(s.Restrictions().Append(ctx, own), s.Restrictions().ClearReasons(ctx, id))
		})
		expectReasons(t, store, withoutReason(global), withoutReason(lifted), silent, withoutReason(own))
		expectReasons(t, store, withoutReason(scoped))
		expectReasons(t, store, kept)
	}
}

func restrictionReasonsGivenLaterStay(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	before, later := withReason(id, nil, "before", "wrong"), withReason(id, nil, "later", "still wrong")
	store := restrictions.openWith(t, h, true, before)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		if err := s.Restrictions().ClearReasons(ctx, id); err != nil {
			return err
		}
		global, _, err := s.Restrictions().Latest(ctx, id, nil)
		if err != nil {
			return err
		}
		assert(t, global != nil && global.Reason == nil, "the session that cleared a reason still reads it")
		return s.Restrictions().ClearReasons(ctx, id)
	})
	do(t, store, func(ctx context.Context, s ports.Session) error {
		return errors.Join(s.Restrictions().ClearReasons(ctx, id), s.Restrictions().Append(ctx, later))
	})
	expectReasons(t, store, withoutReason(before), later)
}

func restrictionReasonsComeBackWithARollback(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	record := withReason(id, nil, "api", "wrong")
	store := restrictions.openWith(t, h, true, record)
	undone := errors.New("undone")
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if err := s.Restrictions().ClearReasons(ctx, id); err != nil {
			return err
		}
		if _, err := s.Restrictions().History(ctx, id, nil); err != nil { // makes the store send its buffered appends
			return err
		}
		return undone
	})
	assert(t, errors.Is(err, undone), "the session did not return the error of fn but: %v", err)
	expectReasons(t, store, record)
}
