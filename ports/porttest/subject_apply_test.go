package porttest

import (
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// changesSteps returns a function that makes a store defective: its Apply passes each step through fn before it
// executes the step. If fn returns false, Apply skips the step and counts 0 rows. Apply still refuses steps that are
// valid alone but not in combination.
func changesSteps(fn func(datamap.Step) (datamap.Step, bool)) func(*Store) {
	return brokenSubjects{apply: func(c subjectCall) (rows []int64, err error) {
		if conflict(c.steps) {
			return c.apply()
		}
		for _, step := range c.steps {
			count := []int64{0}
			if changed, todo := fn(step); todo {
				if count, err = rowsOf(c.Apply(c.ctx, c.id, []datamap.Step{changed})); err != nil {
					return rows, err
				}
			}
			rows = append(rows, count[0])
		}
		return rows, nil
	}}.breaks
}

// conflict reports whether each of the steps is valid alone, but their combination is refused.
func conflict(steps []datamap.Step) bool {
	for _, step := range steps {
		if _, err := DataMap().CheckSteps([]datamap.Step{step}); err != nil {
			return false
		}
	}
	_, err := DataMap().CheckSteps(steps)
	return err != nil
}

// changesCounts returns a function that makes a store defective: its Apply passes the number of rows of each step
// through fn.
func changesCounts(fn func(step datamap.Step, rows int64) int64) func(*Store) {
	return brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
		rows, err := c.apply()
		for i := range rows {
			rows[i] = fn(c.steps[i], rows[i])
		}
		return rows, err
	}}.breaks
}

// changesRows returns a function that makes a store defective: it passes each row of the application's tables through
// fn.
func changesRows(fn func(table string, row Row)) func(*Store) {
	return func(store *Store) {
		good := store.Rows
		store.Rows = func(t testing.TB, table string) []Row {
			t.Helper()
			rows := good(t, table)
			for _, row := range rows {
				fn(table, row)
			}
			return rows
		}
	}
}

func applyDefects() defects {
	return defects{
		"a table that is forgotten": {
			changesSteps(func(step datamap.Step) (datamap.Step, bool) { return step, step.Target != "order_lines" }),
			found{"lines of orders were anonymized, want": {subjectRowsAreFoundOverTwoHops}},
		},
		"duties that never end": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			if len(step.Expired) > 0 {
				step.At = noon
			}
			return step, true
		}), found{"rows were anonymized and": {subjectCellsWithExpiredRetentionAreAnonymized}}},
		"steps that are carried out one by one": {brokenSubjects{apply: func(c subjectCall) (rows []int64, err error) {
			for _, step := range c.steps {
				counts, err := rowsOf(c.Apply(c.ctx, c.id, []datamap.Step{step}))
				if err != nil {
					return rows, err
				}
				rows = append(rows, counts...)
			}
			return rows, nil
		}}.breaks, found{"want the error habeas: manifest": {subjectStepsOnOneRowAreRefused}}},
		"refused steps that can be committed": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			if before, err := DataMap().CheckSteps(c.steps); err != nil {
				return make([]int64, before), err
			}
			return c.apply()
		}}.breaks, found{"want the error habeas: manifest": {subjectRefusedStepsCannotBeCommitted}}},
		"deletes that do not happen": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			if step.Strategy == domain.StrategyDelete && !step.External {
				if _, known := DataMap().Table(step.Target); known {
					step.Strategy = domain.StrategyRetain
				}
			}
			return step, true
		}), found{"rows are left": {subjectRowsAreDeleted}}},
		"retained columns that are anonymized": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			if step.Strategy == domain.StrategyRetain {
				step.Strategy = domain.StrategyAnonymize
			}
			return step, true
		}), found{"after a step that retains: invoices.address has changed in a row": {subjectRetainedRowsAreCounted}}},
		"all personal columns, whatever the step says": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			if table, _ := DataMap().Table(step.Target); step.Strategy == domain.StrategyAnonymize {
				step.Columns = nil
				for _, column := range table.Personal() {
					step.Columns = append(step.Columns, column.Name)
				}
			}
			return step, true
		}), found{"want the error habeas: manifest": {subjectStepsOnOneRowAreRefused}}},
		"a column that is left out": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			step.Columns = slices.DeleteFunc(slices.Clone(step.Columns), func(name string) bool { return name == "photo" })
			return step, true
		}), found{"people.photo was overwritten: false, want true": {subjectColumnsAreAnonymized}}},
		"a column that is not personal": {changesRows(func(table string, row Row) {
			if table == "people" && anonymous(row["email"]) {
				row["remark"] = "erased"
			}
		}), found{"people.remark was overwritten: true, want false": {subjectColumnsAreAnonymized}}},
		"retained rows that are not counted": {changesCounts(func(step datamap.Step, rows int64) int64 {
			if step.Strategy == domain.StrategyRetain {
				return 0
			}
			return rows
		}), found{
			"found no row":                       {subjectIDsAreMatchedWhole},
			"rows are counted as retained, want": {subjectRetainedRowsAreCounted},
		}},
		"cells in place of rows": {
			changesCounts(func(step datamap.Step, rows int64) int64 { return rows * int64(max(1, len(step.Columns))) }),
			found{
				"rows of people were anonymized, want": {subjectColumnsAreAnonymized},
				"anonymize people":                     {subjectPlanErasesAll},
			},
		},
		"replies that hold each other": {brokenSubjects{apply: func(c subjectCall) (rows []int64, err error) {
			for _, step := range c.steps {
				count, err := rowsOf(c.Apply(c.ctx, c.id, []datamap.Step{step}))
				if err != nil {
					return rows, err
				}
				if step.Target == "messages" && count[0] > 3 {
					return rows, &domain.Error{Code: domain.ErrConflict, Op: "erase", Message: "refers"}
				}
				rows = append(rows, count...)
			}
			return rows, nil
		}}.breaks, found{"the session failed: habeas: erase: refers": {subjectRepliesAreDeletedInOneStep}}},
		"a conflict without its code": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			rows, err := c.apply()
			if errors.Is(err, domain.ErrConflict) {
				err = &domain.Error{Op: "erase", Message: "failed"}
			}
			return rows, err
		}}.breaks, found{
			"to delete a message that another person replied to: want the error habeas: conflict": {
				subjectRowsThatOthersReferToAreRefused,
			},
		}},
		"no counts with an error": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			rows, err := c.apply()
			if err != nil {
				return nil, err
			}
			return rows, nil
		}}.breaks, found{"the steps before it count [], want": {subjectRowsThatOthersReferToAreRefused}}},
		"a count for the step that failed": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			rows, err := c.apply()
			if err != nil {
				rows = append(rows, 0)
			}
			return rows, err
		}}.breaks, found{"steps are counted, want at most the step before it": {subjectStepsAreRefused}}},
		"external steps are nothing": {
			changesSteps(func(step datamap.Step) (datamap.Step, bool) { return step, !step.External }),
			found{"want the error habeas: manifest": {subjectRefusedStepsCannotBeCommitted}},
		},
		"unknown tables are nothing": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			_, known := DataMap().Table(step.Target)
			return step, known || step.External
		}), found{"a step about an unknown table": {subjectStepsAreRefused}}},
		"a subject without rows is an error": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			rows, err := c.apply()
			if err == nil && !slices.ContainsFunc(rows, func(n int64) bool { return n > 0 }) {
				err = &domain.Error{Code: domain.ErrSubject, Op: "erase", Message: "has no rows"}
			}
			return rows, err
		}}.breaks, found{"the session failed: habeas: erase: has no rows": {subjectWithoutRowsIsAccepted}}},
		"once only": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			erased := false
			_ = c.Export(c.ctx, c.id, func(record domain.ExportRecord) error {
				erased = erased || anonymous(record.Value)
				return nil
			})
			if erased {
				return make([]int64, len(c.steps)), nil
			}
			return c.apply()
		}}.breaks, found{
			"rows of orders were anonymized, want": {subjectColumnsAreAnonymized},
			"rows, want":                           {subjectPlanCanBeAppliedAgain},
		}},
	}
}
