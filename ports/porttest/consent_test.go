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

// brokenConsents is a ConsentStore that keeps its promises but for what is set.
type brokenConsents struct {
	ports.ConsentStore
	keep    func(domain.ConsentRecord) domain.ConsentRecord     // what is kept of a record
	history func([]domain.ConsentRecord) []domain.ConsentRecord // what becomes of a history
	force   func(a, b domain.ConsentRecord) bool                // whether a, appended before b, is in force rather than b
	until   func(recorded, asOf time.Time) bool                 // whether a record counts
	hidden  bool                                                // what the session appended is not read
	clocks  bool                                                // clocks are ignored: what counts is the order of appending
	own     *int
	order   *[]string // in which policy versions were appended
}

func (b brokenConsents) Append(ctx context.Context, record domain.ConsentRecord) error {
	if b.keep != nil {
		record = b.keep(record)
	}
	*b.own++
	*b.order = append(*b.order, record.PolicyVersion)
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
	if b.clocks {
		slices.SortStableFunc(records, func(x, y domain.ConsentRecord) int {
			return cmp.Compare(slices.Index(*b.order, x.PolicyVersion), slices.Index(*b.order, y.PolicyVersion))
		})
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
		b.force = domain.ConsentRecord.Supersedes
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

// defect is a defect of ConsentStores.
func (b brokenConsents) defect(found map[string]string) storeDefect {
	return storeDefect{func(store *Store) {
		broken := b
		broken.order = new([]string)
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

func TestConsentStoresThatBreakAPromiseFail(t *testing.T) {
	type found = map[string]string
	type records = []domain.ConsentRecord
	const (
		whole, instant, own = "consent record comes back as appended", "consent instant is in UTC and microseconds", "consent is read by its own session"
		tie, equals, asOf   = "consent withdrawal wins a tie", "consent appended last wins among equals", "consent as of an instant is inclusive"
		oldest, appended    = "consent history is oldest first", "consent history keeps the order of appending"
		latest, exactly     = "consent latest is the later one", "consent purposes are compared exactly"
	)
	expectDefects(t, consentCases, map[string]storeDefect{
		"no source": keepsConsents(func(r *domain.ConsentRecord) { r.Source = "" }).
			defect(found{whole: "did not come back as it was appended"}),
		"texts are trimmed": keepsConsents(func(r *domain.ConsentRecord) { r.Source = strings.TrimSpace(r.Source) }).
			defect(found{whole: "did not come back as it was appended"}),
		"instants are rounded": keepsConsents(func(r *domain.ConsentRecord) { r.RecordedAt = r.RecordedAt.Add(500) }).
			defect(found{instant: "and returned as", tie: `a tie was decided for "granted"`}),
		"instants are kept to the millisecond": keepsConsents(func(r *domain.ConsentRecord) {
			r.RecordedAt = r.RecordedAt.Truncate(time.Millisecond)
		}).defect(found{
			whole: "did not come back", instant: "and returned as", latest: `in force is "first"`,
			asOf: `"first" is in force, want ""`,
		}),
		"instants have nanoseconds": returnsConsents(func(r *domain.ConsentRecord) { r.RecordedAt = r.RecordedAt.Add(1) }).
			defect(found{whole: "did not come back", instant: "and returned as", tie: `for ""`, asOf: `"" is in force, want "first"`}),
		"instants are in another zone": returnsConsents(func(r *domain.ConsentRecord) {
			r.RecordedAt = r.RecordedAt.In(time.FixedZone("", 0))
		}).defect(found{instant: "not in UTC"}),
		"the session's own are not read": brokenConsents{hidden: true}.defect(found{own: `the session reads ""`}),
		"clocks are ignored": brokenConsents{clocks: true, force: func(_, _ domain.ConsentRecord) bool { return false }}.
			defect(found{
				latest: `in force is "first"`, tie: `for "granted"`, equals: `"earlier" is in force`, asOf: `"first" is in force, want "second"`,
				oldest: `"third" comes as number 1`,
			}),
		"the first one of equals is in force": brokenConsents{force: func(a, b domain.ConsentRecord) bool {
			return !b.Supersedes(a)
		}}.defect(found{equals: `"z" is in force`}),
		"a grant wins a tie": brokenConsents{force: func(a, b domain.ConsentRecord) bool {
			if a.RecordedAt.Equal(b.RecordedAt) {
				return a.Granted && !b.Granted
			}
			return a.RecordedAt.After(b.RecordedAt)
		}}.defect(found{tie: `for "granted"`}),
		"the last one wins a tie": brokenConsents{force: func(a, b domain.ConsentRecord) bool {
			return a.RecordedAt.After(b.RecordedAt)
		}}.defect(found{tie: `for "granted"`}),
		"as of an instant is exclusive": brokenConsents{until: time.Time.Before}.
			defect(found{tie: `for ""`, asOf: `"" is in force, want "first"`}),
		"as of an instant is ignored": brokenConsents{until: func(_, _ time.Time) bool { return true }}.
			defect(found{asOf: `"third" is in force, want ""`}),
		"the history is reversed": brokenConsents{
			history: func(r records) records { slices.Reverse(r); return r },
			force:   func(a, b domain.ConsentRecord) bool { return !b.Supersedes(a) },
		}.defect(found{whole: "comes as number 1", oldest: `"third" comes as number 1`, appended: `"b" comes as number 1`}),
		"of one instant, the history is in the order of versions": brokenConsents{
			history: func(r records) records {
				return slices.SortedStableFunc(slices.Values(r), func(a, b domain.ConsentRecord) int {
					return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), strings.Compare(a.PolicyVersion, b.PolicyVersion))
				})
			},
		}.defect(found{appended: `"a" comes as number 1`, equals: `"z" is in force`}),
		"a record replaces its like": brokenConsents{history: slices.Compact[records]}.
			defect(found{"consent ledger only grows": "got 3 records, want 4"}),
		"purposes are folded": keepsConsents(func(r *domain.ConsentRecord) { r.Purpose = strings.ToLower(r.Purpose) }).
			defect(found{exactly: `"news": got 2 records`}),
		"purposes are cut": keepsConsents(func(r *domain.ConsentRecord) { r.Purpose = r.Purpose[:min(len(r.Purpose), 255)] }).
			defect(found{exactly: "got 2 records"}),
		"all purposes are one": keepsConsents(func(r *domain.ConsentRecord) { r.Purpose = "news" }).
			defect(found{"consent without a record is nil": "another subject or purpose", exactly: "records, want 1", instant: "and returned as"}),
		"ids are joined carelessly": keepsConsents(func(r *domain.ConsentRecord) { r.SubjectID = joined(r.SubjectID) }).
			defect(found{"consent subjects are kept apart": "records, want 1", whole: "did not come back"}),
		"subjects are one": keepsConsents(func(r *domain.ConsentRecord) { r.SubjectID = subjectOf(t, "everybody") }).
			defect(found{
				"consent without a record is nil": "another subject or purpose", "consent subjects are kept apart": "records, want 1",
				whole: "did not come back",
			}),
	})
}
