package porttest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// brokenConsents is a defective ConsentStore. Its brokenLedger and its functions that are set cause the defects.
type brokenConsents struct {
	ports.ConsentStore
	brokenLedger[domain.ConsentRecord]
	until func(recorded, asOf time.Time) bool                 // whether Latest considers a record
	all   func([]domain.ConsentRecord) []domain.ConsentRecord // changes the result of InForce
	own   *int
}

func (b brokenConsents) Append(ctx context.Context, record domain.ConsentRecord) error {
	*b.own++
	return b.ConsentStore.Append(ctx, b.kept(record))
}

func (b brokenConsents) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	asked := b.kept(domain.ConsentRecord{SubjectID: id, Purpose: purpose})
	records, err := b.ConsentStore.History(ctx, asked.SubjectID, asked.Purpose)
	return b.read(records, *b.own), err
}

func (b brokenConsents) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	if b.until == nil {
		b.until = func(recorded, asOf time.Time) bool { return !recorded.After(asOf) }
	}
	records, err := b.History(ctx, id, purpose)
	return b.latest(slices.DeleteFunc(records, func(r domain.ConsentRecord) bool {
		return asOf != nil && !b.until(r.RecordedAt, *asOf)
	})), err
}

func (b brokenConsents) InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error) {
	records, err := b.ConsentStore.InForce(ctx, b.kept(domain.ConsentRecord{SubjectID: id}).SubjectID)
	if b.all != nil {
		records = b.all(records)
	}
	return records, err
}

func (b brokenConsents) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.ConsentStore, broken.own = s.Consents(), new(int)
		return replacedStores{Session: s, consents: broken}
	})(store)
}

func TestConsentStoresThatBreakAPromiseFail(t *testing.T) {
	type record = domain.ConsentRecord
	inLedger := func(b brokenLedger[record]) func(*Store) { return brokenConsents{brokenLedger: b}.breaks }
	kept := func(change func(*record)) func(*Store) { return inLedger(changesStored(change)) }
	all := func(change func([]record) []record) func(*Store) { return brokenConsents{all: change}.breaks }
	changed := found{"did not come back as it was appended": {consentRecordComesBackAsAppended}}
	broken := ledgerDefects(consents, inLedger, func(r *record) *domain.SubjectID { return &r.SubjectID }, ledgerChecks{
		instants: consentInstantIsInUTCAndMicroseconds, ownSession: consentIsReadByItsOwnSession,
		takenInLast: consentRecordedLastIsInForce, history: consentHistoryIsInTheOrderOfRecording,
		onlyGrows: consentLedgerOnlyGrows, apart: consentSubjectsAreKeptApart, none: consentWithoutARecordIsNil,
	})
	maps.Copy(broken, defects{
		"no source":         {kept(func(r *record) { r.Source = "" }), changed},
		"texts are trimmed": {kept(func(r *record) { r.Source = strings.TrimSpace(r.Source) }), changed},
		"instants are kept to the millisecond": {
			kept(func(r *record) { r.RecordedAt = r.RecordedAt.Truncate(time.Millisecond) }),
			found{"and returned as": {consentInstantIsInUTCAndMicroseconds}},
		},
		"a withdrawal wins a tie": {inLedger(brokenLedger[record]{force: func(a, b record) bool {
			return a.RecordedAt.Equal(b.RecordedAt) && !a.Granted && b.Granted
		}}), found{`of records at [0 0 0] s, "a" is in force`: {consentRecordedLastIsInForce}}},
		"the first one of equals is in force": {
			inLedger(brokenLedger[record]{force: func(a, b record) bool { return a.RecordedAt.Equal(b.RecordedAt) }}),
			found{`of records at [0 0 0] s, "z" is in force`: {consentRecordedLastIsInForce}},
		},
		"as of an instant is exclusive": {brokenConsents{until: time.Time.Before}.breaks, found{
			`"" is in force, want "first"`: {consentAsOfAnInstantIsInclusive},
		}},
		"as of an instant is ignored": {brokenConsents{until: func(_, _ time.Time) bool { return true }}.breaks, found{
			`"fourth" is in force, want ""`: {consentAsOfAnInstantIsInclusive},
		}},
		"only grants are in force": {
			all(func(r []record) []record { return slices.DeleteFunc(r, func(r record) bool { return !r.Granted }) }),
			found{"got 2 records, want 3": {consentInForceIsOneForEachPurpose}},
		},
		"the record in force is chosen by instant": {all(func(r []record) []record {
			slices.SortStableFunc(r, func(a, b record) int { return a.RecordedAt.Compare(b.RecordedAt) })
			return r
		}), found{"is record 1": {consentInForceIsOneForEachPurpose}}},
		"purposes in force are folded": {all(func(r []record) []record {
			return slices.CompactFunc(r, func(a, b record) bool { return strings.EqualFold(a.Purpose, b.Purpose) })
		}), found{"records, want 3": {consentInForceIsOneForEachPurpose}}},
		"purposes are folded": {kept(func(r *record) { r.Purpose = strings.ToLower(r.Purpose) }), found{
			`"news": got 2 records`: {consentPurposesAreComparedExactly},
		}},
		"purposes are cut": {kept(func(r *record) { r.Purpose = r.Purpose[:min(len(r.Purpose), 255)] }), found{
			"got 2 records": {consentPurposesAreComparedExactly},
		}},
		"all purposes are one": {kept(func(r *record) { r.Purpose = "news" }), found{
			"another subject or purpose": {consentWithoutARecordIsNil},
		}},
	})
	promise.ExpectDefects(t, consentPromises, brokenStore, broken)
}
