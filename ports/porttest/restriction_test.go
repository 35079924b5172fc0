package porttest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// brokenRestrictions is a RestrictionStore that keeps its promises but for what is set.
type brokenRestrictions struct {
	ports.RestrictionStore
	keep    func(domain.RestrictionRecord) domain.RestrictionRecord     // what is kept of a record
	history func([]domain.RestrictionRecord) []domain.RestrictionRecord // what becomes of a history
	force   func(a, b domain.RestrictionRecord) bool                    // whether a, appended before b, is in force rather than b
	latest  func(global, scoped *domain.RestrictionRecord) (*domain.RestrictionRecord, *domain.RestrictionRecord)
	hidden  bool // what the session appended is not read
	clocks  bool // clocks are ignored: what counts is the order of appending
	own     *[]string
	order   *[]string // in which sources were appended
}

func (b brokenRestrictions) Append(ctx context.Context, record domain.RestrictionRecord) error {
	if b.keep != nil {
		record = b.keep(record)
	}
	*b.own, *b.order = append(*b.own, record.Source), append(*b.order, record.Source)
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
		records = slices.DeleteFunc(records, func(r domain.RestrictionRecord) bool { return slices.Contains(*b.own, r.Source) })
	}
	if b.clocks {
		slices.SortStableFunc(records, func(x, y domain.RestrictionRecord) int {
			return cmp.Compare(slices.Index(*b.order, x.Source), slices.Index(*b.order, y.Source))
		})
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
		b.force = domain.RestrictionRecord.Supersedes
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

// defect is a defect of RestrictionStores.
func (b brokenRestrictions) defect(found map[string]string) storeDefect {
	return storeDefect{func(store *Store) {
		broken := b
		broken.order = new([]string)
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
	type found = map[string]string
	type record = domain.RestrictionRecord
	const (
		whole, instant   = "restriction record comes back as appended", "restriction instant is in UTC and microseconds"
		own, latest      = "restriction is read by its own session", "restriction latest is the later one"
		tie, equals      = "restriction wins a tie", "restriction appended last wins among equals"
		oldest, appended = "restriction history is oldest first", "restriction history keeps the order of appending"
		notGlobal, both  = "restriction of a purpose is not global", "restriction of all comes beside that of a purpose"
		exactly, apart   = "restriction purposes are compared exactly", "restriction subjects are kept apart"
	)
	expectDefects(t, restrictionCases, map[string]storeDefect{
		"no reason is an empty one": keepsRestrictions(func(r *record) { r.Reason = pointer(value(r.Reason)) }).
			defect(found{whole: "did not come back as it was appended"}),
		"an empty reason is none": returnsRestrictions(func(r *record) {
			if value(r.Reason) == "" {
				r.Reason = nil
			}
		}).defect(found{whole: "did not come back as it was appended"}),
		"reasons are trimmed": keepsRestrictions(func(r *record) {
			if r.Reason != nil {
				r.Reason = pointer(strings.TrimSpace(*r.Reason))
			}
		}).defect(found{whole: "did not come back as it was appended"}),
		"instants are rounded": keepsRestrictions(func(r *record) { r.RecordedAt = r.RecordedAt.Add(500) }).
			defect(found{instant: "and returned as", tie: `a tie was decided for "lifted"`}),
		"instants have nanoseconds": returnsRestrictions(func(r *record) { r.RecordedAt = r.RecordedAt.Add(1) }).
			defect(found{whole: "did not come back", instant: "and returned as"}),
		"instants are in another zone": returnsRestrictions(func(r *record) {
			r.RecordedAt = r.RecordedAt.In(time.FixedZone("", 0))
		}).defect(found{instant: "not in UTC"}),
		"the session's own are not read": brokenRestrictions{hidden: true}.defect(found{own: `the session reads ""`}),
		"clocks are ignored": brokenRestrictions{clocks: true, force: func(_, _ record) bool { return false }}.
			defect(found{
				latest: `in force is "first"`, tie: `for "lifted"`, equals: `"earlier" is in force`, oldest: `"third" comes as number 1`,
			}),
		"the first one of equals is in force": brokenRestrictions{force: func(a, b record) bool { return !b.Supersedes(a) }}.
			defect(found{equals: `"z" is in force`}),
		"the lifting wins a tie": brokenRestrictions{force: func(a, b record) bool {
			if a.RecordedAt.Equal(b.RecordedAt) {
				return !a.Restricted && b.Restricted
			}
			return a.RecordedAt.After(b.RecordedAt)
		}}.defect(found{tie: `for "lifted"`}),
		"the last one wins a tie": brokenRestrictions{force: func(a, b record) bool {
			return a.RecordedAt.After(b.RecordedAt)
		}}.defect(found{tie: `for "lifted"`}),
		"the history is reversed": brokenRestrictions{
			history: func(r []record) []record { slices.Reverse(r); return r },
			force:   func(a, b record) bool { return !b.Supersedes(a) },
		}.defect(found{whole: "comes as number 1", oldest: `"third" comes as number 1`, appended: `"b" comes as number 1`}),
		"of one instant, the history is in the order of sources": brokenRestrictions{
			history: func(r []record) []record {
				return slices.SortedStableFunc(slices.Values(r), func(a, b record) int {
					return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), strings.Compare(a.Source, b.Source))
				})
			},
		}.defect(found{appended: `"a" comes as number 1`, equals: `"z" is in force`}),
		"a record replaces its like": brokenRestrictions{history: func(r []record) []record {
			return slices.CompactFunc(r, func(a, b record) bool {
				return a.RecordedAt.Equal(b.RecordedAt) && a.Source == b.Source && a.Restricted == b.Restricted
			})
		}}.defect(found{"restriction ledger only grows": "got 3 records, want 4"}),
		"purposes are folded": keepsRestrictions(func(r *record) {
			if r.Purpose != nil {
				r.Purpose = pointer(strings.ToLower(*r.Purpose))
			}
		}).defect(found{exactly: "got 2 records"}),
		"records for a purpose are global": keepsRestrictions(func(r *record) { r.Purpose = nil }).
			defect(found{
				whole: "did not come back", instant: "and returned as", notGlobal: "without a purpose, a record for a purpose is in force",
				own: "the session reads", exactly: "want 1", apart: "want 1", both: "are",
			}),
		"the global one is missing beside that of a purpose": brokenRestrictions{latest: func(global, scoped *record) (*record, *record) {
			if scoped != nil {
				global = nil
			}
			return global, scoped
		}}.defect(found{both: `in force are "" and "news"`}),
		"the scoped one stands for a global one": brokenRestrictions{latest: func(global, scoped *record) (*record, *record) {
			if global == nil {
				global = scoped
			}
			return global, scoped
		}}.defect(found{notGlobal: "in force as a global one"}),
		"the global one stands for a scoped one": brokenRestrictions{latest: func(global, scoped *record) (*record, *record) {
			if scoped == nil {
				scoped = global
			}
			return global, scoped
		}}.defect(found{both: `in force are "global" and "global"`}),
		"ids are joined carelessly": keepsRestrictions(func(r *record) { r.SubjectID = joined(r.SubjectID) }).
			defect(found{apart: "records, want 1", whole: "did not come back"}),
		"subjects are one": keepsRestrictions(func(r *record) { r.SubjectID = subjectOf(t, "everybody") }).
			defect(found{
				"restriction without a record is nil": "another subject", apart: "records, want 1", whole: "did not come back",
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
