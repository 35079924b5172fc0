package porttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

// changesSteps is a defect of the steps that are carried out; each still has its count. Steps that must not be carried
// out together are refused as they should be.
func changesSteps(change func(domain.Step) (domain.Step, bool)) func(*Store) {
	return changesSubjects(func(s *brokenSubjects) {
		s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error) {
			if meet(steps) {
				return s.good.Apply(ctx, id, steps)
			}
			for _, step := range steps {
				count := []int64{0}
				if changed, todo := change(step); todo {
					if count, err = s.good.Apply(ctx, id, []domain.Step{changed}); err != nil {
						return rows, err
					}
				}
				rows = append(rows, count[0])
			}
			return rows, nil
		}
	})
}

// meet reports whether steps are refused together, but not one by one.
func meet(steps []domain.Step) bool {
	for _, step := range steps {
		if _, err := DataMap().CheckSteps([]domain.Step{step}); err != nil {
			return false
		}
	}
	_, err := DataMap().CheckSteps(steps)
	return err != nil
}

// changesCounts is a defect of what a step is said to have done.
func changesCounts(change func(step domain.Step, rows int64) int64) func(*Store) {
	return changesSubjects(func(s *brokenSubjects) {
		s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
			rows, err := s.good.Apply(ctx, id, steps)
			for i := range rows {
				rows[i] = change(steps[i], rows[i])
			}
			return rows, err
		}
	})
}

// changesRows is a defect of what an application sees of its rows.
func changesRows(change func(table string, row Row)) func(*Store) {
	return func(store *Store) {
		good := store.Rows
		store.Rows = func(t testing.TB, table string) []Row {
			t.Helper()
			rows := good(t, table)
			for _, row := range rows {
				change(table, row)
			}
			return rows
		}
	}
}

func anonymous(value any) bool {
	text, isText := value.(string)
	return isText && strings.HasPrefix(text, "anon-")
}

func applyDefects() map[string]storeDefect {
	return map[string]storeDefect{
		"a table that is forgotten": {
			changesSteps(func(step domain.Step) (domain.Step, bool) { return step, step.Target != "order_lines" }),
			map[string]string{
				"subject ids are matched whole":        "found no row",
				"subject rows are found over two hops": "lines of orders were anonymized, want",
				"subject surrogates fit their columns": "what stands in order_lines.engraving is no surrogate for the type text",
				"subject surrogates replace NULL":      "order_lines.engraving is NULL",
				"subject surrogates are unique":        "a cell of order_lines.engraving has the surrogate of one of order_lines",
				"subject plan erases all":              "order_lines",
				"subject plan can be applied again":    "order_lines",
			},
		},
		"duties that never end": {
			changesSteps(func(step domain.Step) (domain.Step, bool) {
				if len(step.Expired) > 0 {
					step.At = noon
				}
				return step, true
			}),
			map[string]string{
				"subject retention that is over is no reason": "rows were anonymized and",
			},
		},
		"steps that are carried out one by one": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error) {
					for _, step := range steps {
						counts, err := s.good.Apply(ctx, id, []domain.Step{step})
						if err != nil {
							return rows, err
						}
						rows = append(rows, counts...)
					}
					return rows, nil
				}
			}),
			map[string]string{"subject steps on one row are refused": "is no habeas: manifest"},
		},
		"refused steps that can be committed": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
					if before, err := DataMap().CheckSteps(steps); err != nil {
						return make([]int64, before), err
					}
					return s.good.Apply(ctx, id, steps)
				}
			}),
			map[string]string{"subject refused steps cannot be committed": "is no habeas: manifest"},
		},
		"deletes that do not happen": {
			changesSteps(func(step domain.Step) (domain.Step, bool) {
				if step.Strategy == domain.StrategyDelete && !step.External {
					if _, known := DataMap().Table(step.Target); known {
						step.Strategy = domain.StrategyRetain
					}
				}
				return step, true
			}),
			map[string]string{
				"subject ids are matched whole":                 "rows are left",
				"subject rows are deleted":                      "rows are left",
				"subject replies are deleted in one step":       "messages are left",
				"subject rows that others refer to are refused": "to delete a message that another person replied to is no habeas: conflict",
				"subject plan erases all":                       "es are left",
				"subject plan can be applied again":             "rows, want",
			},
		},
		"retained columns that are anonymized": {
			changesSteps(func(step domain.Step) (domain.Step, bool) {
				if step.Strategy == domain.StrategyRetain {
					step.Strategy = domain.StrategyAnonymize
				}
				return step, true
			}),
			map[string]string{
				"subject retention that is over is no reason": "invoices.address was overwritten",

				"subject retained rows are counted": "after a step that retains: invoices.address has changed in a row",
				"subject surrogates replace NULL":   "invoices.address was NULL, is not to be anonymized, and has changed",
				"subject plan erases all":           "invoices.address has stayed: false, want true",
				"subject plan can be applied again": "invoices.address has stayed: false, want true",
			},
		},
		"all personal columns, whatever the step says": {
			changesSteps(func(step domain.Step) (domain.Step, bool) {
				if table, _ := DataMap().Table(step.Target); step.Strategy == domain.StrategyAnonymize {
					step.Columns = nil
					for _, column := range table.Personal() {
						step.Columns = append(step.Columns, column.Name)
					}
				}
				return step, true
			}),
			map[string]string{
				"subject steps on one row are refused":        "is no habeas: manifest",
				"subject retention that is over is no reason": "invoices.address was overwritten",

				"subject columns are anonymized":    "was overwritten: true, want false",
				"subject surrogates replace NULL":   "invoices.address was NULL, is not to be anonymized, and has changed",
				"subject plan erases all":           "invoices.address has stayed: false, want true",
				"subject plan can be applied again": "invoices.address has stayed: false, want true",
			},
		},
		"a column that is left out": {
			changesSteps(func(step domain.Step) (domain.Step, bool) {
				step.Columns = slices.DeleteFunc(slices.Clone(step.Columns), func(name string) bool { return name == "photo" })
				return step, true
			}),
			map[string]string{
				"subject columns are anonymized":    "people.photo was overwritten: false, want true",
				"subject surrogates replace NULL":   "people.photo is NULL",
				"subject plan erases all":           "people.photo has stayed: true, want false",
				"subject plan can be applied again": "people.photo has stayed: true, want false",
			},
		},
		"a column that is nobody's": {
			changesRows(func(table string, row Row) {
				if table == "people" && anonymous(row["email"]) {
					row["remark"] = "erased"
				}
			}),
			map[string]string{
				"subject columns are anonymized":    "people.remark was overwritten: true, want false",
				"subject surrogates replace NULL":   "people.remark was NULL, is not to be anonymized, and has changed",
				"subject plan erases all":           "people.remark has stayed: false, want true",
				"subject plan can be applied again": "people.remark has stayed: false, want true",
			},
		},
		"retained rows that are not counted": {
			changesCounts(func(step domain.Step, rows int64) int64 {
				if step.Strategy == domain.StrategyRetain {
					return 0
				}
				return rows
			}),
			map[string]string{
				"subject retention that is over is no reason": "0 retained, want",

				"subject ids are matched whole":     "found no row",
				"subject retained rows are counted": "rows are said to be retained, want",
				"subject plan erases all":           "retain invoices",
				"subject plan can be applied again": "retain invoices",
			},
		},
		"cells in place of rows": {
			changesCounts(func(step domain.Step, rows int64) int64 { return rows * int64(max(1, len(step.Columns))) }),
			map[string]string{
				"subject columns are anonymized":    "rows of people were anonymized, want",
				"subject plan erases all":           "anonymize people",
				"subject plan can be applied again": "anonymize people",
			},
		},
		"replies that hold each other": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error) {
					for _, step := range steps {
						count, err := s.good.Apply(ctx, id, []domain.Step{step})
						if err != nil {
							return rows, err
						}
						if step.Target == "messages" && count[0] > 3 {
							return rows, &domain.Error{Code: domain.ErrConflict, Op: "erase", Message: "refers"}
						}
						rows = append(rows, count...)
					}
					return rows, nil
				}
			}),
			map[string]string{
				"subject steps on one row are refused": "is no habeas: manifest",

				"subject replies are deleted in one step":  "the session failed: habeas: erase: refers",
				"subject statements do not depend on rows": "the session failed: habeas: erase: refers",
			},
		},
		"a conflict without its code": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
					rows, err := s.good.Apply(ctx, id, steps)
					if errors.Is(err, domain.ErrConflict) {
						err = &domain.Error{Op: "erase", Message: "failed"}
					}
					return rows, err
				}
			}),
			map[string]string{
				"subject rows that others refer to are refused": "to delete a message that another person replied to is no habeas: conflict",
			},
		},
		"no counts with an error": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
					rows, err := s.good.Apply(ctx, id, steps)
					if err != nil {
						return nil, err
					}
					return rows, nil
				}
			}),
			map[string]string{
				"subject rows that others refer to are refused": "the steps before it are counted [], want",
			},
		},
		"a count for the step that failed": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
					rows, err := s.good.Apply(ctx, id, steps)
					if err != nil {
						rows = append(rows, 0)
					}
					return rows, err
				}
			}),
			map[string]string{
				"subject rows that others refer to are refused": "the steps before it are counted",
				"subject steps are refused":                     "steps are counted, of which one came before it",
			},
		},
		"external steps are nothing": {
			changesSteps(func(step domain.Step) (domain.Step, bool) { return step, !step.External }),
			map[string]string{
				"subject refused steps cannot be committed": "is no habeas: manifest",

				"subject steps are refused": "an external step",
			},
		},
		"unknown tables are nothing": {
			changesSteps(func(step domain.Step) (domain.Step, bool) {
				_, known := DataMap().Table(step.Target)
				return step, known || step.External
			}),
			map[string]string{
				"subject steps are refused": "a step about an unknown table",
			},
		},
		"nobody is an error": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
					rows, err := s.good.Apply(ctx, id, steps)
					if err == nil && !slices.ContainsFunc(rows, func(n int64) bool { return n > 0 }) {
						err = &domain.Error{Code: domain.ErrSubject, Op: "erase", Message: "has no rows"}
					}
					return rows, err
				}
			}),
			map[string]string{
				"subject without rows has none": "the session failed: habeas: erase: has no rows",
			},
		},
		"once only": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
					erased := false
					_ = s.good.Export(ctx, id, func(record domain.ExportRecord) error {
						erased = erased || anonymous(record.Value)
						return nil
					})
					if erased {
						return make([]int64, len(steps)), nil
					}
					return s.good.Apply(ctx, id, steps)
				}
			}),
			map[string]string{
				"subject columns are anonymized":    "rows of orders were anonymized, want",
				"subject plan can be applied again": "rows, want",
			},
		},
	}
}
