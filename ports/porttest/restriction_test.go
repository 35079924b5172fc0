package porttest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

// brokenRestrictions is a RestrictionStore that keeps its promises but for what is set.
type brokenRestrictions struct {
	ports.RestrictionStore
	keep    func(domain.RestrictionRecord) domain.RestrictionRecord     // what is kept of a record
	history func([]domain.RestrictionRecord) []domain.RestrictionRecord // what becomes of a history
	// whether a, appended before b, is in force all the same
	force  func(a, b domain.RestrictionRecord) bool
	latest func(global, scoped *domain.RestrictionRecord) (*domain.RestrictionRecord, *domain.RestrictionRecord)
	// what the session appended is not read
	hidden bool
	clear  func(ctx context.Context, good ports.RestrictionStore, id domain.SubjectID) error // in place of ClearReasons
	own    *[]string
}

func (b brokenRestrictions) Append(ctx context.Context, record domain.RestrictionRecord) error {
	if b.keep != nil {
		record = b.keep(record)
	}
	*b.own = append(*b.own, record.Source)
	return b.RestrictionStore.Append(ctx, record)
}

func (b brokenRestrictions) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	if b.keep != nil {
		kept := b.keep(domain.RestrictionRecord{SubjectID: id, Purpose: purpose})
		id, purpose = kept.SubjectID, kept.Purpose
	}
	records, err := b.RestrictionStore.History(ctx, id, purpose)
	if b.hidden {
		records = slices.DeleteFunc(records,
			func(r domain.RestrictionRecord) bool { return slices.Contains(*b.own, r.Source) })
	}
	if b.history != nil {
		records = b.history(records)
	}
	return records, err
}

func (b brokenRestrictions) Latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	if b.force == nil {
		b.force = func(_, _ domain.RestrictionRecord) bool { return false }
	}
	inForce := func(purpose *string) (latest *domain.RestrictionRecord) {
		records, failed := b.History(ctx, id, purpose)
		err = cmp.Or(err, failed)
		for i, record := range records {
			if latest == nil || !b.force(*latest, record) {
				latest = &records[i]
			}
		}
		return latest
	}
	if global = inForce(nil); purpose != nil {
		scoped = inForce(purpose)
	}
	if b.latest != nil {
		global, scoped = b.latest(global, scoped)
	}
	return global, scoped, err
}

func (b brokenRestrictions) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	if b.clear != nil {
		return b.clear(ctx, b.RestrictionStore, id)
	}
	if b.keep != nil {
		id = b.keep(domain.RestrictionRecord{SubjectID: id}).SubjectID
	}
	return b.RestrictionStore.ClearReasons(ctx, id)
}

// defect is a defect of RestrictionStores.
func (b brokenRestrictions) defect(found found) storeDefect {
	return storeDefect{func(store *Store) {
		broken := b
		changesSessions(func(s ports.Session) replaced {
			broken.RestrictionStore, broken.own = s.Restrictions(), new([]string)
			return replaced{Session: s, restrictions: broken}
		})(store)
	}, found}
}

// keepsRestrictions is a defect of what is kept.
func keepsRestrictions(change func(*domain.RestrictionRecord)) brokenRestrictions {
	return brokenRestrictions{keep: func(r domain.RestrictionRecord) domain.RestrictionRecord { change(&r); return r }}
}

// returnsRestrictions is a defect of each record that is returned.
func returnsRestrictions(change func(*domain.RestrictionRecord)) brokenRestrictions {
	return brokenRestrictions{history: func(records []domain.RestrictionRecord) []domain.RestrictionRecord {
		for i := range records {
			change(&records[i])
		}
		return records
	}}
}

func TestRestrictionStoresThatBreakAPromiseFail(t *testing.T) {
	type record = domain.RestrictionRecord
	promise.ExpectDefects(t, restrictionPromises, brokenStore, defects{
		"no reason is an empty one": keepsRestrictions(func(r *record) { r.Reason = pointer(value(r.Reason)) }).
			defect(found{"did not come back as it was appended": {restrictionRecordComesBackAsAppended}}),
		"an empty reason is none": returnsRestrictions(func(r *record) {
			if value(r.Reason) == "" {
				r.Reason = nil
			}
		}).defect(found{"did not come back as it was appended": {restrictionRecordComesBackAsAppended}}),
		"reasons are trimmed": keepsRestrictions(func(r *record) {
			if r.Reason != nil {
				r.Reason = pointer(strings.TrimSpace(*r.Reason))
			}
		}).defect(found{"did not come back as it was appended": {restrictionRecordComesBackAsAppended}}),
		"instants are rounded": keepsRestrictions(func(r *record) { r.RecordedAt = r.RecordedAt.Add(500) }).
			defect(found{"and returned as": {restrictionInstantIsInUTCAndMicroseconds}}),
		"instants have nanoseconds": returnsRestrictions(func(r *record) { r.RecordedAt = r.RecordedAt.Add(1) }).
			defect(found{
				"did not come back": {
					restrictionRecordComesBackAsAppended, restrictionReasonsAreCleared, restrictionReasonsGivenLaterStay,
					restrictionReasonsComeBackWithARollback,
				},
				"and returned as": {restrictionInstantIsInUTCAndMicroseconds},
			}),
		"instants are in another zone": returnsRestrictions(func(r *record) {
			r.RecordedAt = r.RecordedAt.In(time.FixedZone("", 0))
		}).defect(found{"not in UTC": {restrictionInstantIsInUTCAndMicroseconds}}),
		"the session's own are not read": brokenRestrictions{hidden: true}.defect(found{
			`the session reads ""`: {restrictionIsReadByItsOwnSession},
		}),
		"clocks decide": brokenRestrictions{force: func(a, b record) bool { return a.RecordedAt.After(b.RecordedAt) }}.
			defect(found{`of records at [2 1 0] s, "z" is in force`: {restrictionTakenInLastIsInForce}}),
		"a restriction wins a tie": brokenRestrictions{force: func(a, b record) bool {
			return a.RecordedAt.Equal(b.RecordedAt) && a.Restricted && !b.Restricted
		}}.defect(found{`of records at [0 0 0] s, "a" is in force`: {restrictionTakenInLastIsInForce}}),
		"the history is reversed": brokenRestrictions{
			history: func(r []record) []record { slices.Reverse(r); return r },
			force:   func(_, _ record) bool { return true },
		}.defect(found{
			"comes as number 1": {
				restrictionRecordComesBackAsAppended, restrictionReasonsAreCleared, restrictionReasonsGivenLaterStay,
			},
			`"b" comes as number 1`: {restrictionHistoryIsInTheOrderOfIntake},
		}),
		"the history is by instant": brokenRestrictions{history: func(r []record) []record {
			slices.SortStableFunc(r, func(a, b record) int { return a.RecordedAt.Compare(b.RecordedAt) })
			return r
		}}.defect(found{
			`"b" comes as number 1`:                    {restrictionHistoryIsInTheOrderOfIntake},
			`of records at [2 1 0] s, "z" is in force`: {restrictionTakenInLastIsInForce},
			"comes as number":                          {restrictionReasonsAreCleared},
		}),
		"reasons are never cleared": brokenRestrictions{clear: func(
			context.Context, ports.RestrictionStore, domain.SubjectID,
		) error {
			return nil
		}}.defect(found{
			"did not come back":                          {restrictionReasonsAreCleared},
			"the session that cleared a reason reads it": {restrictionReasonsGivenLaterStay},
		}),
		"no reason is kept at all": keepsRestrictions(func(r *record) { r.Reason = nil }).
			defect(found{
				"did not come back": {
					restrictionRecordComesBackAsAppended, restrictionReasonsAreCleared, restrictionReasonsGivenLaterStay,
					restrictionReasonsComeBackWithARollback,
				},
			}),
		"the reasons of all are cleared": brokenRestrictions{
			clear: func(ctx context.Context, good ports.RestrictionStore, id domain.SubjectID) error {
				return errors.Join(good.ClearReasons(ctx, id), good.ClearReasons(ctx, subjectOf(t, "acme", "2")))
			},
		}.defect(found{"did not come back": {restrictionReasonsAreCleared}}),
		"what is cleared is lifted": brokenRestrictions{
			clear: func(ctx context.Context, good ports.RestrictionStore, id domain.SubjectID) error {
				return errors.Join(good.ClearReasons(ctx, id),
					good.Append(ctx, record{SubjectID: id, RecordedAt: noon, Source: "erasure"}))
			},
		}.defect(found{
			"got 5 records, want 4": {restrictionReasonsAreCleared}, "comes as number": {restrictionReasonsGivenLaterStay},
		}),
		"a record replaces its like": brokenRestrictions{history: func(r []record) []record {
			return slices.CompactFunc(r, func(a, b record) bool {
				return a.RecordedAt.Equal(b.RecordedAt) && a.Source == b.Source && a.Restricted == b.Restricted
			})
		}}.defect(found{"got 3 records, want 4": {restrictionLedgerOnlyGrows}}),
		"purposes are folded": keepsRestrictions(func(r *record) {
			if r.Purpose != nil {
				r.Purpose = pointer(strings.ToLower(*r.Purpose))
			}
		}).defect(found{"got 2 records": {restrictionPurposesAreComparedExactly}}),
		"records for a purpose are global": keepsRestrictions(func(r *record) { r.Purpose = nil }).
			defect(found{
				"did not come back": {restrictionRecordComesBackAsAppended},
				"and returned as":   {restrictionInstantIsInUTCAndMicroseconds},
				"without a purpose, a record for a purpose is in force": {restrictionOfAPurposeIsNotGlobal},
				"the session reads": {restrictionIsReadByItsOwnSession},
				"want 1":            {restrictionPurposesAreComparedExactly, restrictionSubjectsAreKeptApart},
				"are":               {restrictionOfAllComesBesideThatOfAPurpose},
				"scoped history":    {restrictionHistoryIsInTheOrderOfIntake},
				"comes as number":   {restrictionReasonsAreCleared},
			}),
		"the global one is missing beside that of a purpose": brokenRestrictions{latest: func(
			global, scoped *record,
		) (*record, *record) {
			if scoped != nil {
				global = nil
			}
			return global, scoped
		}}.defect(found{`in force are "" and "news"`: {restrictionOfAllComesBesideThatOfAPurpose}}),
		"the scoped one stands for a global one": brokenRestrictions{latest: func(global, scoped *record) (*record, *record) {
			if global == nil {
				global = scoped
			}
			return global, scoped
		}}.defect(found{"in force as a global one": {restrictionOfAPurposeIsNotGlobal}}),
		"the global one stands for a scoped one": brokenRestrictions{latest: func(global, scoped *record) (*record, *record) {
			if scoped == nil {
				scoped = global
			}
			return global, scoped
		}}.defect(found{`in force are "global" and "global"`: {restrictionOfAllComesBesideThatOfAPurpose}}),
		"ids are joined carelessly": keepsRestrictions(func(r *record) { r.SubjectID = joined(r.SubjectID) }).
			defect(found{
				"records, want 1": {restrictionSubjectsAreKeptApart},
				"did not come back": {
					restrictionRecordComesBackAsAppended, restrictionReasonsAreCleared, restrictionReasonsGivenLaterStay,
					restrictionReasonsComeBackWithARollback,
				},
			}),
		"subjects are one": keepsRestrictions(func(r *record) { r.SubjectID = subjectOf(t, "everybody") }).
			defect(found{
				"another subject": {restrictionWithoutARecordIsNil}, "records, want 1": {restrictionSubjectsAreKeptApart},
				"did not come back": {
					restrictionRecordComesBackAsAppended, restrictionReasonsGivenLaterStay, restrictionReasonsComeBackWithARollback,
				},
				"comes as number": {restrictionReasonsAreCleared}, "records, want 3": {restrictionHistoryIsInTheOrderOfIntake},
			}),
	})
}

// value is what a pointer points to, or nothing.
func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
