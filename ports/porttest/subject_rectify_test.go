package porttest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// changesValues returns a function that makes a store defective: its Rectify passes each value through fn before it
// writes the value.
func changesValues(fn func(value any) any) func(*Store) {
	return changesRectifications(func(step *domain.RectificationStep) {
		for i := range step.Values {
			step.Values[i].Value = fn(step.Values[i].Value)
		}
	})
}

func changesRectifications(fn func(step *domain.RectificationStep)) func(*Store) {
	return brokenSubjects{rectify: func(c subjectCall) (int64, error) {
		c.step.Values = slices.Clone(c.step.Values)
		fn(&c.step)
		return c.rectify()
	}}.breaks
}

// changesValuesOf returns a function that makes a store defective: its Rectify passes the values of type From through
// fn before it writes them.
func changesValuesOf[From, To any](fn func(From) To) func(*Store) {
	return changesValues(func(value any) any {
		if value, ok := value.(From); ok {
			return fn(value)
		}
		return value
	})
}

func rectifyDefects() defects {
	return defects{
		"texts are trimmed": {changesValuesOf(strings.TrimSpace), found{
			"as a different value of Go type string": {subjectRectificationReadsBack},
		}},
		"question marks are bound": {changesValuesOf(func(s string) string { return strings.ReplaceAll(s, "?0", "") }), found{
			"as a different value of Go type string": {subjectRectificationReadsBack},
		}},
		"quotes are doubled": {changesValuesOf(func(s string) string { return strings.ReplaceAll(s, "'", "''") }), found{
			"as a different value of Go type string": {subjectRectificationReadsBack},
		}},
		"no text is longer than 39": {
			changesValuesOf(func(s string) string { r := []rune(s); return string(r[:min(len(r), 39)]) }),
			found{"as a different value of Go type string": {subjectRectificationReadsBack}},
		},
		"texts are in lower case": {changesValuesOf(strings.ToLower), found{
			"after a rectification: people.email has changed in a row": {subjectRectificationFollowsItsPlan},
		}},
		"numbers are whole": {changesValuesOf(func(f float64) any { return float64(int64(f)) }), found{
			"as a different value of Go type float": {subjectRectificationReadsBack},
		}},
		"integers are small": {changesValuesOf(func(n int64) any { return int64(int8(n)) }), found{
			"as a different value of Go type int": {subjectRectificationReadsBack},
		}},
		"decimals are whole": {changesValuesOf(func(_ domain.Number) any { return int64(0) }), found{
			"as a different value of Go type int": {subjectRectificationReadsBack},
		}},
		"times are of whole seconds": {changesValuesOf(func(at time.Time) any { return at.Truncate(time.Second) }), found{
			"as a different value of Go type time.Time": {subjectRectificationReadsBack},
		}},
		"bytes end at zero": {
			changesValuesOf(func(b []byte) any { b, _, _ = bytes.Cut(b, []byte{0}); return append([]byte{}, b...) }),
			found{"as a different value of Go type []uint": {subjectRectificationReadsBack}},
		},
		"JSON is text": {changesValuesOf(func(_ domain.JSON) any { return domain.JSON(`"text"`) }), found{
			"as a different value of Go type domain.JSON": {subjectRectificationReadsBack},
		}},
		"nothing is false": {changesValuesOf(func(_ bool) any { return true }), found{
			"as a different value of Go type bool": {subjectRectificationReadsBack},
		}},
		"empty is NULL": {changesRows(func(_ string, row Row) {
			if row["email"] == "" {
				row["email"] = nil
			}
		}), found{"of type text reads back as a different value of Go type <nil>": {subjectRectificationReadsBack}}},
		"no bytes is NULL": {changesRows(func(_ string, row Row) {
			if raw, ok := row["photo"].([]byte); ok && len(raw) == 0 {
				row["photo"] = nil
			}
		}), found{"the value of people.photo is not a surrogate for the type bytes": {subjectSurrogatesFitTheirColumns}}},
		"JSON null is NULL": {changesExported(func(record *domain.ExportRecord) bool {
			if record.Value == domain.JSON("null") {
				record.Value = nil
			}
			return true
		}), found{"of type json is exported as a different value of Go type <nil>": {subjectRectificationReadsBack}}},
		"all rows for one": {
			changesRectifications(func(step *domain.RectificationStep) { step.Row = "" }),
			found{"rows of messages were rectified": {subjectRectificationOfOneRow}},
		},
		"a row by half its key": {brokenSubjects{rectify: func(c subjectCall) (int64, error) {
			rows, err := c.rectify()
			if half, line, ok := strings.Cut(c.step.Row, "\x1f"); ok && rows == 1 && line == "1" {
				c.step.Row = half + "\x1f0"
				_, err = c.rectify()
			}
			return rows, err
		}}.breaks, found{"but for one row: order_lines.engraving has changed in a row": {subjectRectificationOfOneRow}}},
		"a row of any subject": {brokenSubjects{rectify: func(c subjectCall) (int64, error) {
			rows, err := c.rectify()
			if c.step.Row != "" && rows == 0 && err == nil {
				c.id, _ = domain.NewSubjectID("acme", "7")
				rows, err = c.rectify()
			}
			return rows, err
		}}.breaks, found{"1 rows of messages were rectified that are not the subject's": {subjectRectificationOfOneRow}}},
		"a row by a loose comparison": {
			changesRectifications(func(step *domain.RectificationStep) { step.Row = strings.TrimSpace(step.Row) }),
			found{"were rectified for a row that does not exist": {subjectRectificationOfOneRow}},
		},
		"the first of several values": {
			changesRectifications(func(step *domain.RectificationStep) { step.Values = step.Values[:min(1, len(step.Values))] }),
			found{"after a rectification: people.": {subjectRectificationFollowsItsPlan}},
		},
		"unannotated columns are skipped": {changesRectifications(func(step *domain.RectificationStep) {
			table, _ := DataMap().Table(step.Table)
			step.Values = slices.DeleteFunc(step.Values, func(v domain.ColumnValue) bool {
				column, ok := table.Column(v.Column)
				return ok && column.Personal == nil && len(step.Values) > 1
			})
		}), found{
			"a step with a column that is right and one wrong: want the error habeas: manifest": {subjectRectificationIsRefused},
		}},
		"nothing to write is nothing": {brokenSubjects{rectify: func(c subjectCall) (int64, error) {
			if _, known := DataMap().Table(c.step.Table); !known || len(c.step.Values) == 0 {
				return 0, nil
			}
			return c.rectify()
		}}.breaks, found{"want the error habeas: manifest, got <nil>": {subjectRectificationIsRefused}}},
		"a subject without rows is an error": {brokenSubjects{rectify: func(c subjectCall) (int64, error) {
			rows, err := c.rectify()
			if err == nil && rows == 0 {
				err = &domain.Error{Code: domain.ErrSubject, Op: "rectify", Message: "has no rows"}
			}
			return rows, err
		}}.breaks, found{"the session failed: habeas: rectify: has no rows": {
			subjectRectificationCountsRows, subjectRectificationOfOneRow,
		}}},
		"at the most one row": {brokenSubjects{rectify: func(c subjectCall) (int64, error) {
			rows, err := c.rectify()
			return min(1, rows), err
		}}.breaks, found{"es of tenant acme": {subjectRectificationCountsRows}}},
		"others, too": {func(store *Store) {
			rows := store.Rows
			brokenSubjects{rectify: func(c subjectCall) (int64, error) {
				n, err := c.rectify()
				for _, other := range confusedWith(rows, c.id, sameTenant) {
					if err == nil {
						_, err = c.Rectify(c.ctx, other, c.step)
					}
				}
				return n, err
			}}.breaks(store)
		}, found{"has changed in a row": {subjectRectificationTouchesNothingElse}}},
		"all columns of the category": {changesRectifications(func(step *domain.RectificationStep) {
			if len(step.Values) == 1 && step.Values[0].Column == "name" {
				step.Values = append(step.Values, domain.ColumnValue{Column: "nickname", Value: step.Values[0].Value})
			}
		}), found{"but for the column: people.nickname has changed in a row": {subjectRectificationTouchesNothingElse}}},
		"retained columns are left": {brokenSubjects{rectify: func(c subjectCall) (int64, error) {
			if len(c.step.Values) > 0 && c.step.Values[0].Column == "address" {
				return 0, nil
			}
			return c.rectify()
		}}.breaks, found{"invoices of tenant acme": {subjectRectificationCountsRows}}},
		"the earlier one stays": {func(store *Store) {
			var mu sync.Mutex
			open := 0
			changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
				rectified := false
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					if rectified {
						open--
					}
				}()
				return do(ctx, func(ctx context.Context, s ports.Session) error {
					broken := brokenSubjects{SubjectStore: s.Subjects(), rectify: func(c subjectCall) (int64, error) {
						mu.Lock()
						late := open > 0 && !rectified
						if !late && !rectified {
							rectified = true
							open++
						}
						mu.Unlock()
						if late {
							return 1, nil
						}
						return c.rectify()
					}}
					return fn(ctx, replacedStores{Session: s, subjects: broken})
				})
			})(store)
		}, found{"the value of the earlier session has stayed": {subjectLaterRectificationStays}}},
	}
}
