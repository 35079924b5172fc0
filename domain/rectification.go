package domain

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// RectificationResult says what a rectification (Art. 16 GDPR) did in the application's own tables, in rows per table,
// which external systems are still to be told, and which ones will not be.
type RectificationResult struct {
	SubjectID        SubjectID        `json:"subject_id"`
	CompletedAt      time.Time        `json:"completed_at"`
	Rectified        map[string]int64 `json:"rectified"`
	EnqueuedExternal []string         `json:"enqueued_external"` // resolver names, one per outbox entry
	SkippedResolvers []string         `json:"skipped_resolvers"` // those that cannot rectify, or have no ref
}

// RectificationStep is what a rectification writes into one table, the same into all of the subject's rows.
type RectificationStep struct {
	Table  string
	Values []ColumnValue // in the order of the table's columns; at least one
}

// ColumnValue is the right value for a column, as one Go type for each type of column: string for TypeText and TypeUUID,
// int64 for the integers, bool for TypeBoolean, time.Time in UTC and whole microseconds for TypeTime, a non-nil []byte
// for TypeBytes, JSON for TypeJSON; for TypeNumber int64, a finite float64, or Number.
type ColumnValue struct {
	Column string
	Value  any
}

// RectificationPlan is what corrections come to: values that fit their columns, and values to send.
type RectificationPlan struct {
	Steps       []RectificationStep // in the order of the data map's tables
	Corrections Corrections         // for external systems: every category, and nothing that JSON cannot say
}

// Categories returns the categories that are corrected, sorted.
func (p RectificationPlan) Categories() []Category { return slices.Sorted(maps.Keys(p.Corrections)) }

// PlanRectification works out what to write for the corrections. The value of a category is for all annotated columns of
// that category, so it has to fit each of them:
//
//   - text takes a string of as many characters as the column holds, valid UTF-8 without NUL;
//   - integers take Go's integers, and a float64 without a fraction up to 2^53, which is as far as it counts exactly;
//   - numbers take those, every finite float, and Number within the range of a float64;
//   - booleans take a bool;
//   - times take a time.Time of the years 1 to 9999, or a string like "2024-02-29T12:00:00Z" or "2024-02-29";
//   - UUIDs take their canonical text, in lower case;
//   - JSON takes JSON that PostgreSQL can store, too: without "\u0000" and halves of surrogate pairs;
//   - bytes take a []byte;
//   - arrays take nothing, and no column takes nil.
//
// A category in which a column identifies or links rows cannot be corrected. One without any column is for external
// systems only, and external says whether there is any to send it to.
//
// Whatever breaks these rules is ErrInvalid, with one FieldError for each category at fault: Field is the category.
func (m DataMap) PlanRectification(corrections Corrections, external bool) (RectificationPlan, error) {
	const op = "rectify"
	if len(corrections) == 0 {
		return RectificationPlan{}, Invalid(op, []FieldError{{"corrections", FieldRequired, "must have a category"}})
	}
	plan := RectificationPlan{Corrections: Corrections{}}
	faults := map[Category]FieldError{}
	for category, value := range corrections {
		canonical, fault := canonicalValue(value)
		switch {
		case !category.Valid():
			faults[category] = FieldError{"", FieldUnknown, "is no category of personal data"}
		case fault != nil:
			faults[category] = *fault
		default:
			plan.Corrections[category] = canonical
		}
	}
	held := map[Category]bool{}
	for _, table := range m.tables {
		step := RectificationStep{Table: table.Name}
		for _, column := range table.Personal() {
			category := column.Personal.Category
			given, ok := plan.Corrections[category]
			if !ok {
				continue
			}
			held[category] = true
			value, fault := m.correct(table, column, given)
			if fault != nil {
				delete(plan.Corrections, category) // its other columns matter no more
				faults[category] = *fault
				continue
			}
			step.Values = append(step.Values, ColumnValue{column.Name, value})
		}
		if len(step.Values) > 0 {
			plan.Steps = append(plan.Steps, step)
		}
	}
	for category := range plan.Corrections {
		if !held[category] && !external {
			faults[category] = FieldError{"", FieldUnknown, "is held nowhere that it can be corrected"}
		}
	}
	if len(faults) > 0 {
		return RectificationPlan{}, Invalid(op, inOrder(faults))
	}
	return plan, nil
}

// correct is the value as the column takes it.
func (m DataMap) correct(table Table, column Column, value any) (any, *FieldError) {
	if m.IsKey(table, column.Name) {
		return nil, &FieldError{"", FieldUnknown, "identifies or links records, and cannot be corrected"}
	}
	return column.correct(value)
}

// inOrder lists faults by category, each with its field.
func inOrder(faults map[Category]FieldError) []FieldError {
	var fields []FieldError
	for _, category := range slices.Sorted(maps.Keys(faults)) {
		fault := faults[category]
		fault.Field = fieldOf(category)
		fields = append(fields, fault)
	}
	return fields
}

// fieldOf is the name of a category in an error. What could not be one, and may be anything that a client sent, has
// none.
func fieldOf(category Category) string {
	const most = 32
	unlike := func(r rune) bool { return (r < 'a' || 'z' < r) && r != '_' }
	if len(category) > most || strings.ContainsFunc(string(category), unlike) {
		return "corrections"
	}
	return string(category)
}
