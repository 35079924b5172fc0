package porttest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

// brokenConsents is a ConsentStore that keeps its promises but for what is set.
type brokenConsents struct {
	ports.ConsentStore
	keep    func(domain.ConsentRecord) domain.ConsentRecord     // what is kept of a record
	history func([]domain.ConsentRecord) []domain.ConsentRecord // what becomes of a history
	force   func(a, b domain.ConsentRecord) bool                // whether a, appended before b, is in force all the same
	until   func(recorded, asOf time.Time) bool                 // whether a record counts
	hidden  bool                                                // what the session appended is not read
	all     func([]domain.ConsentRecord) []domain.ConsentRecord // what becomes of the records in force of all purposes
	own     *int
}

func (b brokenConsents) Append(ctx context.Context, record domain.ConsentRecord) error {
	if b.keep != nil {
		record = b.keep(record)
	}
	*b.own++
	return b.ConsentStore.Append(ctx, record)
}

func (b brokenConsents) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	if b.keep != nil {
		kept := b.keep(domain.ConsentRecord{SubjectID: id, Purpose: purpose})
		id, purpose = kept.SubjectID, kept.Purpose
	}
	records, err := b.ConsentStore.History(ctx, id, purpose)
	if b.hidden {
		records = records[:max(0, len(records)-*b.own)]
	}
	if b.history != nil {
		records = b.history(records)
	}
	return records, err
}

func (b brokenConsents) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	if b.force == nil {
		b.force = func(_, _ domain.ConsentRecord) bool { return false }
	}
	if b.until == nil {
		b.until = func(recorded, asOf time.Time) bool { return !recorded.After(asOf) }
	}
	records, err := b.History(ctx, id, purpose)
	var latest *domain.ConsentRecord
	for i, record := range records {
		if (asOf == nil || b.until(record.RecordedAt, *asOf)) && (latest == nil || !b.force(*latest, record)) {
			latest = &records[i]
		}
	}
	return latest, err
}

func (b brokenConsents) InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error) {
	if b.keep != nil {
		id = b.keep(domain.ConsentRecord{SubjectID: id}).SubjectID
	}
	records, err := b.ConsentStore.InForce(ctx, id)
	if b.all != nil {
		records = b.all(records)
	}
	return records, err
}

// defect is a defect of ConsentStores.
func (b brokenConsents) defect(found found) storeDefect {
	return storeDefect{func(store *Store) {
		broken := b
		changesSessions(func(s ports.Session) replaced {
			broken.ConsentStore, broken.own = s.Consents(), new(int)
			return replaced{Session: s, consents: broken}
		})(store)
	}, found}
}

// keeps is a defect of what is kept.
func keepsConsents(change func(*domain.ConsentRecord)) brokenConsents {
	return brokenConsents{keep: func(r domain.ConsentRecord) domain.ConsentRecord { change(&r); return r }}
}

// returns is a defect of each record that is returned.
func returnsConsents(change func(*domain.ConsentRecord)) brokenConsents {
	return brokenConsents{history: func(records []domain.ConsentRecord) []domain.ConsentRecord {
		for i := range records {
			change(&records[i])
		}
		return records
	}}
}

// byInstant puts records in the order of their instants.
func byInstant(records []domain.ConsentRecord) []domain.ConsentRecord {
	slices.SortStableFunc(records, func(a, b domain.ConsentRecord) int { return a.RecordedAt.Compare(b.RecordedAt) })
	return records
}

func TestConsentStoresThatBreakAPromiseFail(t *testing.T) {
	type records = []domain.ConsentRecord
	promise.ExpectDefects(t, consentPromises, brokenStore, defects{
		"no source": keepsConsents(func(r *domain.ConsentRecord) { r.Source = "" }).
			defect(found{
				"did not come back as it was appended": {consentRecordComesBackAsAppended},
				"did not come back":                    {consentInForceIsOneForEachPurpose},
			}),
		"texts are trimmed": keepsConsents(func(r *domain.ConsentRecord) { r.Source = strings.TrimSpace(r.Source) }).
			defect(found{"did not come back as it was appended": {consentRecordComesBackAsAppended}}),
		"instants are rounded": keepsConsents(func(r *domain.ConsentRecord) { r.RecordedAt = r.RecordedAt.Add(500) }).
			defect(found{"and returned as": {consentInstantIsInUTCAndMicroseconds}}),
		"instants are kept to the millisecond": keepsConsents(func(r *domain.ConsentRecord) {
			r.RecordedAt = r.RecordedAt.Truncate(time.Millisecond)
		}).defect(found{
			"did not come back":            {consentRecordComesBackAsAppended, consentInForceIsOneForEachPurpose},
			"and returned as":              {consentInstantIsInUTCAndMicroseconds},
			`"first" is in force, want ""`: {consentAsOfAnInstantIsInclusive},
		}),
		"instants have nanoseconds": returnsConsents(func(r *domain.ConsentRecord) { r.RecordedAt = r.RecordedAt.Add(1) }).
			defect(found{
				"did not come back": {consentRecordComesBackAsAppended}, "and returned as": {consentInstantIsInUTCAndMicroseconds},
				`"" is in force, want "first"`: {consentAsOfAnInstantIsInclusive},
			}),
		"instants are in another zone": returnsConsents(func(r *domain.ConsentRecord) {
			r.RecordedAt = r.RecordedAt.In(time.FixedZone("", 0))
		}).defect(found{"not in UTC": {consentInstantIsInUTCAndMicroseconds}}),
		"the session's own are not read": brokenConsents{hidden: true}.defect(found{
			`the session reads ""`: {consentIsReadByItsOwnSession},
		}),
		"clocks decide": brokenConsents{
			force: func(a, b domain.ConsentRecord) bool { return a.RecordedAt.After(b.RecordedAt) },
		}.defect(found{
			`of records at [2 1 0] s, "z" is in force`: {consentTakenInLastIsInForce},
			`"ahead" is in force, want "third"`:        {consentAsOfAnInstantIsInclusive},
		}),
		"a withdrawal wins a tie": brokenConsents{force: func(a, b domain.ConsentRecord) bool {
			return a.RecordedAt.Equal(b.RecordedAt) && !a.Granted && b.Granted
		}}.defect(found{`of records at [0 0 0] s, "a" is in force`: {consentTakenInLastIsInForce}}),
		"the first one of equals is in force": brokenConsents{force: func(a, b domain.ConsentRecord) bool {
			return a.RecordedAt.Equal(b.RecordedAt)
		}}.defect(found{`of records at [0 0 0] s, "z" is in force`: {consentTakenInLastIsInForce}}),
		"as of an instant is exclusive": brokenConsents{until: time.Time.Before}.
			defect(found{`"" is in force, want "first"`: {consentAsOfAnInstantIsInclusive}}),
		"as of an instant is ignored": brokenConsents{until: func(_, _ time.Time) bool { return true }}.
			defect(found{`"fourth" is in force, want ""`: {consentAsOfAnInstantIsInclusive}}),
		"the history is reversed": brokenConsents{
			history: func(r records) records { slices.Reverse(r); return r },
			force:   func(_, _ domain.ConsentRecord) bool { return true },
		}.defect(found{
			"comes as number 1":     {consentRecordComesBackAsAppended},
			`"b" comes as number 1`: {consentHistoryIsInTheOrderOfIntake},
		}),
		"the history is by instant": brokenConsents{history: byInstant}.
			defect(found{
				`"b" comes as number 1`:                    {consentHistoryIsInTheOrderOfIntake},
				`of records at [2 1 0] s, "z" is in force`: {consentTakenInLastIsInForce},
				`"ahead" is in force, want "third"`:        {consentAsOfAnInstantIsInclusive},
			}),
		"only grants are in force": brokenConsents{all: func(r records) records {
			return slices.DeleteFunc(r, func(r domain.ConsentRecord) bool { return !r.Granted })
		}}.defect(found{"got 2 records, want 3": {consentInForceIsOneForEachPurpose}}),
		"what is in force is by instant": brokenConsents{all: byInstant}.
			defect(found{"comes as number 1": {consentInForceIsOneForEachPurpose}}),
		"what is in force is folded": brokenConsents{all: func(r records) records {
			return slices.CompactFunc(r, func(a, b domain.ConsentRecord) bool { return strings.EqualFold(a.Purpose, b.Purpose) })
		}}.defect(found{"records, want 3": {consentInForceIsOneForEachPurpose}}),
		"a record replaces its like": brokenConsents{history: slices.Compact[records]}.
			defect(found{"got 3 records, want 4": {consentLedgerOnlyGrows}}),
		"purposes are folded": keepsConsents(func(r *domain.ConsentRecord) { r.Purpose = strings.ToLower(r.Purpose) }).
			defect(found{
				`"news": got 2 records`: {consentPurposesAreComparedExactly}, "in force": {consentInForceIsOneForEachPurpose},
			}),
		"purposes are cut": keepsConsents(func(r *domain.ConsentRecord) { r.Purpose = r.Purpose[:min(len(r.Purpose), 255)] }).
			defect(found{"got 2 records": {consentPurposesAreComparedExactly}}),
		"all purposes are one": keepsConsents(func(r *domain.ConsentRecord) { r.Purpose = "news" }).
			defect(found{
				"another subject or purpose": {consentWithoutARecordIsNil}, "records, want 1": {consentPurposesAreComparedExactly},
				"and returned as": {consentInstantIsInUTCAndMicroseconds}, "in force": {consentInForceIsOneForEachPurpose},
			}),
		"ids are joined carelessly": keepsConsents(func(r *domain.ConsentRecord) { r.SubjectID = joined(r.SubjectID) }).
			defect(found{
				"records, want 1":   {consentSubjectsAreKeptApart},
				"did not come back": {consentRecordComesBackAsAppended, consentInForceIsOneForEachPurpose},
			}),
		"subjects are one": keepsConsents(func(r *domain.ConsentRecord) { r.SubjectID = subjectOf(t, "everybody") }).
			defect(found{
				"another subject or purpose": {consentWithoutARecordIsNil}, "records, want 1": {consentSubjectsAreKeptApart},
				"did not come back": {consentRecordComesBackAsAppended}, "in force": {consentInForceIsOneForEachPurpose},
				"records, want 3": {consentHistoryIsInTheOrderOfIntake},
			}),
	})
}
