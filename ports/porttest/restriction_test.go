package porttest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// brokenRestrictions is a defective RestrictionStore. Its brokenLedger and its functions that are set cause the
// defects.
type brokenRestrictions struct {
	ports.RestrictionStore
	brokenLedger[domain.RestrictionRecord]
	both  func(global, scoped **domain.RestrictionRecord)                                   // changes the result of Latest
	clear func(ctx context.Context, good ports.RestrictionStore, id domain.SubjectID) error // replaces ClearReasons
	own   *int
}

func (b brokenRestrictions) Append(ctx context.Context, record domain.RestrictionRecord) error {
	*b.own++
	return b.RestrictionStore.Append(ctx, b.kept(record))
}

func (b brokenRestrictions) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	asked := b.kept(domain.RestrictionRecord{SubjectID: id, Purpose: purpose})
	records, err := b.RestrictionStore.History(ctx, asked.SubjectID, asked.Purpose)
	return b.read(records, *b.own), err
}

func (b brokenRestrictions) Latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	records, err := b.History(ctx, id, nil)
	global = b.latest(records)
	if purpose != nil {
		records, failed := b.History(ctx, id, purpose)
		scoped, err = b.latest(records), cmp.Or(err, failed)
	}
	if b.both != nil {
		b.both(&global, &scoped)
	}
	return global, scoped, err
}

func (b brokenRestrictions) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	if b.clear != nil {
		return b.clear(ctx, b.RestrictionStore, id)
	}
	return b.RestrictionStore.ClearReasons(ctx, b.kept(domain.RestrictionRecord{SubjectID: id}).SubjectID)
}

func (b brokenRestrictions) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.RestrictionStore, broken.own = s.Restrictions(), new(int)
		return replacedStores{Session: s, restrictions: broken}
	})(store)
}

func TestRestrictionStoresThatBreakAPromiseFail(t *testing.T) {
	type record = domain.RestrictionRecord
	inLedger := func(b brokenLedger[record]) func(*Store) { return brokenRestrictions{brokenLedger: b}.breaks }
	kept := func(change func(*record)) func(*Store) { return inLedger(changesStored(change)) }
	both := func(change func(global, scoped **record)) func(*Store) {
		return brokenRestrictions{both: change}.breaks
	}
	changed := found{"did not come back as it was appended": {restrictionRecordComesBackAsAppended}}
	all := ledgerDefects(restrictions, inLedger, func(r *record) *domain.SubjectID { return &r.SubjectID }, ledgerChecks{
		instants: restrictionInstantIsInUTCAndMicroseconds, ownSession: restrictionIsReadByItsOwnSession,
		takenInLast: restrictionRecordedLastIsInForce, history: restrictionHistoryIsInTheOrderOfRecording,
		onlyGrows: restrictionLedgerOnlyGrows, apart: restrictionSubjectsAreKeptApart, none: restrictionWithoutARecordIsNil,
	})
	maps.Copy(all, defects{
		"no reason is an empty one": {kept(func(r *record) {
			if r.Reason == nil {
				r.Reason = new(string)
			}
		}), changed},
		"an empty reason becomes nil": {inLedger(changesRead(func(r *record) {
			if r.Reason != nil && *r.Reason == "" {
				r.Reason = nil
			}
		})), changed},
		"reasons are trimmed": {kept(func(r *record) {
			if r.Reason != nil {
				r.Reason = pointer(strings.TrimSpace(*r.Reason))
			}
		}), changed},
		"a restriction wins a tie": {inLedger(brokenLedger[record]{force: func(a, b record) bool {
			return a.RecordedAt.Equal(b.RecordedAt) && a.Restricted && !b.Restricted
		}}), found{`of records at [0 0 0] s, "a" is in force`: {restrictionRecordedLastIsInForce}}},
		"reasons are never cleared": {brokenRestrictions{
			clear: func(context.Context, ports.RestrictionStore, domain.SubjectID) error { return nil },
		}.breaks, found{"the session that cleared a reason still reads it": {restrictionReasonsGivenLaterStay}}},
		"no reason is kept at all": {kept(func(r *record) { r.Reason = nil }), found{
			"did not come back": {restrictionRecordComesBackAsAppended, restrictionReasonsComeBackWithARollback},
		}},
		"the reasons of all are cleared": {brokenRestrictions{
			clear: func(ctx context.Context, good ports.RestrictionStore, id domain.SubjectID) error {
				return errors.Join(good.ClearReasons(ctx, id), good.ClearReasons(ctx, subjectOf(t, "acme", "2")))
			},
		}.breaks, found{"did not come back": {restrictionReasonsAreCleared}}},
		"a cleared reason lifts the restriction": {brokenRestrictions{
			clear: func(ctx context.Context, good ports.RestrictionStore, id domain.SubjectID) error {
				lifted := record{SubjectID: id, RecordedAt: noon, Source: "erasure"}
				return errors.Join(good.ClearReasons(ctx, id), good.Append(ctx, lifted))
			},
		}.breaks, found{"got 5 records, want 4": {restrictionReasonsAreCleared}}},
		"purposes are folded": {kept(func(r *record) {
			if r.Purpose != nil {
				r.Purpose = pointer(strings.ToLower(*r.Purpose))
			}
		}), found{"got 2 records": {restrictionPurposesAreComparedExactly}}},
		"records for a purpose are global": {kept(func(r *record) { r.Purpose = nil }), found{
			"without a purpose, a record for a purpose is in force": {restrictionOfAPurposeIsNotGlobal},
		}},
		"the global record is missing with a record of a purpose": {both(func(global, scoped **record) {
			if *scoped != nil {
				*global = nil
			}
		}), found{`in force are "" and "news"`: {restrictionQueryReturnsGlobalAndPurposeRecord}}},
		"the record of a purpose replaces the global record": {
			both(func(global, scoped **record) { *global = cmp.Or(*global, *scoped) }),
			found{"in force as a global record": {restrictionOfAPurposeIsNotGlobal}},
		},
		"the global record replaces the record of a purpose": {
			both(func(global, scoped **record) { *scoped = cmp.Or(*scoped, *global) }),
			found{`in force are "global" and "global"`: {restrictionQueryReturnsGlobalAndPurposeRecord}},
		},
	})
	promise.ExpectDefects(t, restrictionPromises, brokenStore, all)
}
