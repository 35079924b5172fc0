package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// verification is an ErasedStore with a defective LeftOver. Each field that is set causes a defect.
type verification struct {
	ports.ErasedStore
	subjects ports.SubjectStore

	steps   func(datamap.Step) datamap.Step
	at      func(time.Time) time.Time
	found   func(domain.Leftover) bool // whether LeftOver reports a finding
	writes  bool
	present bool // LeftOver reports nothing without the subject's own row
	nulls   bool // LeftOver also reports NULL
	newest  bool // LeftOver reports nothing if the subject's own row was added after the erasure
}

func (v verification) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		changed := v
		changed.ErasedStore, changed.subjects = s.Erased(), s.Subjects()
		return replacedStores{Session: s, erased: changed}
	})(store)
}

func (v verification) LeftOver(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step, at time.Time,
) (domain.Leftovers, error) {
	steps = slices.Clone(steps)
	for i := range steps {
		if v.steps != nil {
			steps[i] = v.steps(steps[i])
		}
	}
	if v.at != nil {
		at = v.at(at)
	}
	if _, err := DataMap().CheckSteps(steps); v.writes && err == nil {
		if _, err := v.subjects.Apply(ctx, id, steps); err != nil {
			return nil, err
		}
	}
	if v.present {
		if state, err := v.subjects.LockToRectify(ctx, id); err != nil || !state.Present {
			return nil, err
		}
	}
	if v.newest {
		if state, err := v.subjects.State(ctx, id); err != nil || state.Evidence.AddedAt.After(at) {
			return nil, err
		}
	}
	found, err := v.ErasedStore.LeftOver(ctx, id, steps, at)
	if v.nulls {
		err = v.subjects.Export(ctx, id, func(record domain.ExportRecord) error {
			if record.Value == nil {
				found = found.Add(record.Source, record.Field, 1)
			}
			return nil
		})
	}
	if v.found != nil {
		found = slices.DeleteFunc(found, func(l domain.Leftover) bool { return !v.found(l) })
	}
	return found, err
}

func withoutColumns(step datamap.Step, columns ...string) datamap.Step {
	gone := func(name string) bool { return slices.Contains(columns, name) }
	step.Columns = slices.DeleteFunc(slices.Clone(step.Columns), gone)
	return step
}

func TestVerificationsThatBreakAPromiseAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, verificationPromises, brokenStore, defects{
		"an erasure that leaves a cell": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			return withoutColumns(step, "photo"), true
		}), found{"left over are [{people photo 1}], want []": {subjectVerificationFindsNothingAfterAPlan}}},
		"an erasure that leaves a secret": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			return withoutColumns(step, "password_hash"), true
		}), found{"left over are [{people password_hash 1}], want []": {subjectVerificationFindsNothingAfterAPlan}}},
		"an erasure that leaves rows": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			return step, step.Target != "addresses"
		}), found{"left over are [{addresses  3}], want []": {subjectVerificationFindsNothingAfterAPlan}}},
		"an erasure that ends no duty": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			step.At = noon
			return step, true
		}), found{"left over are [{invoices address 3}], want []": {subjectVerificationFindsNothingAfterAPlan}}},
		"a verification that finds nothing": {verification{found: func(domain.Leftover) bool { return false }}.breaks, found{
			"left over are []": {
				subjectVerificationFindsSkippedSteps, subjectVerificationFindsEachColumn,
				subjectVerificationFindsExpiredRetention, subjectVerificationFindsRowsByTheKey,
				subjectVerificationPassesEmptyCells, subjectVerificationPassesNewRows,
				subjectVerificationCountsTheSubjectsRow,
			},
		}},
		"a verification of exports": {verification{found: func(l domain.Leftover) bool {
			return l.Column != "password_hash"
		}}.breaks, found{"want [{people password_hash 1}]": {subjectVerificationFindsEachColumn}}},
		"a verification that ends no duty": {verification{steps: func(step datamap.Step) datamap.Step {
			step.At = noon
			return step
		}}.breaks, found{"want [{invoices address 3}]": {subjectVerificationFindsExpiredRetention}}},
		"a verification of rows that have a subject": {verification{present: true}.breaks, found{
			"left over are [], want [{remarks  1}]": {subjectVerificationFindsRowsByTheKey},
		}},
		"a verification that takes every row for an old one": {verification{at: func(at time.Time) time.Time {
			return at.AddDate(1, 0, 0)
		}}.breaks, found{
			"left over are [{messages  8}": {subjectVerificationPassesNewRows},
		}},
		"a verification that passes a new row of the subject": {verification{newest: true}.breaks, found{
			"left over are [], want [{people email 1}]": {subjectVerificationCountsTheSubjectsRow},
		}},
		"a verification that takes NULL for a value": {verification{nulls: true}.breaks, found{
			"want [{people login 1}]": {subjectVerificationPassesEmptyCells},
		}},
		"a verification that erases": {verification{writes: true}.breaks, found{
			"must come before any write": {subjectVerificationOnlyReads},
		}},
	})
}
