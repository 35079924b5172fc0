package porttest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// brokenLedger describes the defects of a consent ledger or a restriction ledger. The zero value has no defect.
type brokenLedger[R any] struct {
	keep    func(*R)          // changes a record before it is stored
	history func([]R) []R     // changes the records that History returns
	force   func(a, b R) bool // whether record a stays in force after record b was appended
	hidden  bool              // a session does not see its own records
}

// kept returns the changed record that the broken ledger stores.
func (b brokenLedger[R]) kept(record R) R {
	if b.keep != nil {
		b.keep(&record)
	}
	return record
}

// read returns the history that the broken ledger returns. The reading session itself has appended the last records.
// The parameter own is the number of these records.
func (b brokenLedger[R]) read(records []R, own int) []R {
	if b.hidden {
		records = records[:max(0, len(records)-own)]
	}
	if b.history != nil {
		records = b.history(records)
	}
	return records
}

func (b brokenLedger[R]) latest(records []R) (latest *R) {
	for i := range records {
		if latest == nil || b.force == nil || !b.force(*latest, records[i]) {
			latest = &records[i]
		}
	}
	return latest
}

// changesStored returns a broken ledger that passes each record through fn before it stores the record.
func changesStored[R any](fn func(*R)) brokenLedger[R] { return brokenLedger[R]{keep: fn} }

// changesRead returns a broken ledger that passes each record through fn before it returns the record.
func changesRead[R any](fn func(*R)) brokenLedger[R] {
	return brokenLedger[R]{history: func(records []R) []R { return changed(records, fn) }}
}

// ledgerChecks are the cases that exist for the consent ledger and also for the restriction ledger.
type ledgerChecks struct {
	instants, ownSession, takenInLast, history, onlyGrows, apart, none func(testing.TB, StoreHarness)
}

// ledgerDefects returns the defects that the consent ledger and the restriction ledger can both have.
func ledgerDefects[R any](
	l ledger[R], breaks func(brokenLedger[R]) func(*Store), subject func(*R) *domain.SubjectID, checks ledgerChecks,
) defects {
	at := func(record R) time.Time { return *l.at(&record) }
	return defects{
		"instants are rounded": {breaks(changesStored(func(r *R) { *l.at(r) = at(*r).Add(500) })), found{
			"and returned as": {checks.instants},
		}},
		"instants have nanoseconds": {breaks(changesRead(func(r *R) { *l.at(r) = at(*r).Add(1) })), found{
			"and returned as": {checks.instants},
		}},
		"instants are in another zone": {breaks(changesRead(func(r *R) {
			*l.at(r) = at(*r).In(time.FixedZone("", 0))
		})), found{"not in UTC": {checks.instants}}},
		"the session's own are not read": {breaks(brokenLedger[R]{hidden: true}), found{
			`the session reads ""`: {checks.ownSession},
		}},
		"clocks decide": {breaks(brokenLedger[R]{force: func(a, b R) bool { return at(a).After(at(b)) }}), found{
			`of records at [2 1 0] s, "z" is in force`: {checks.takenInLast},
		}},
		"the history is reversed": {breaks(brokenLedger[R]{
			history: func(r []R) []R { slices.Reverse(r); return r },
			force:   func(_, _ R) bool { return true },
		}), found{`"b" is record 1`: {checks.history}}},
		"the history is by instant": {breaks(brokenLedger[R]{history: func(r []R) []R {
			slices.SortStableFunc(r, func(a, b R) int { return at(a).Compare(at(b)) })
			return r
		}}), found{`"b" is record 1`: {checks.history}}},
		"a record replaces its like": {breaks(brokenLedger[R]{history: func(r []R) []R {
			return slices.CompactFunc(r, func(a, b R) bool { return reflect.DeepEqual(a, b) })
		}}), found{"got 3 records, want 4": {checks.onlyGrows}}},
		"ids are joined carelessly": {breaks(changesStored(func(r *R) { *subject(r) = joinElements(*subject(r)) })), found{
			"records, want 1": {checks.apart},
		}},
		"subjects are one": {breaks(changesStored(func(r *R) { *subject(r), _ = domain.NewSubjectID("everybody") })), found{
			"another subject": {checks.none},
		}},
	}
}
