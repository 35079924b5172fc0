package rectification

import (
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Planner turns corrections into a plan. It is a pure function: no clock, no I/O, and equal input gives equal plans.
type Planner struct{}

// Plan says what a rectification writes into the application's own tables, and what it sends to external systems.
type Plan struct {
	Steps       []domain.RectificationStep // in the order of the data map's tables
	Corrections domain.Corrections         // for external systems: every category, with values that have a form in JSON
}

// Categories returns the categories that are corrected, sorted.
func (p Plan) Categories() []domain.Category { return slices.Sorted(maps.Keys(p.Corrections)) }

// Plan returns the plan for the corrections. The value of a category is written into all annotated columns of that
// category, so it has to fit each of them:
//
//   - text takes a string of as many characters as the column holds, valid UTF-8 without NUL;
//   - integers take Go's integers, a json.Number without fraction and exponent, and a float64 without a fraction up to
//     2^53, which is as far as it counts exactly;
//   - numbers take those, every finite float, and a domain.Number or json.Number that is domain.Number.Storable;
//   - booleans take a bool;
//   - times take a time.Time of the years 1 to 9999, or a string like "2024-02-29T12:00:00Z" or "2024-02-29";
//   - UUIDs take their canonical text, in lower case;
//   - JSON takes a domain.JSON that is Storable;
//   - bytes take a []byte;
//   - arrays take nothing, and no column takes nil.
//
// A category in which a column identifies or links rows cannot be corrected. A category without any column is for
// external systems only, and external says whether there is any to send it to.
//
// Returns domain.ErrInvalid if the corrections break these rules, with one FieldError for each category at fault: Field
// is the category.
func (Planner) Plan(m domain.DataMap, corrections domain.Corrections, external bool) (Plan, error) {
	const op = "rectify"
	if len(corrections) == 0 {
		return Plan{}, domain.Invalid(op, []domain.FieldError{{
			Field: "corrections", Code: domain.FieldRequired, Message: "must have a category",
		}})
	}
	plan := Plan{Corrections: domain.Corrections{}}
	faults := map[domain.Category]domain.FieldError{}
	for category, value := range corrections {
		canonical, wrong := canonicalValue(value)
		switch {
		case !category.Valid():
			faults[category] = *fault(domain.FieldUnknown, "is no category of personal data")
		case wrong != nil:
			faults[category] = *wrong
		default:
			plan.Corrections[category] = canonical
		}
	}
	held := map[domain.Category]bool{}
	for _, table := range m.Tables() {
		step := domain.RectificationStep{Table: table.Name}
		for _, column := range table.Personal() {
			category := column.Personal.Category
			given, ok := plan.Corrections[category]
			if !ok {
				continue
			}
			held[category] = true
			value, wrong := correct(m, table, column, given)
			if wrong != nil {
				delete(plan.Corrections, category) // its other columns matter no more
				faults[category] = *wrong
				continue
			}
			step.Values = append(step.Values, domain.ColumnValue{Column: column.Name, Value: value})
		}
		if len(step.Values) > 0 {
			plan.Steps = append(plan.Steps, step)
		}
	}
	for category := range plan.Corrections {
		if !held[category] && !external {
			faults[category] = *fault(domain.FieldUnknown, "is held nowhere that it can be corrected")
		}
	}
	if len(faults) > 0 {
		return Plan{}, domain.Invalid(op, inOrder(faults))
	}
	return plan, nil
}

// correct returns the value as the column takes it, or its fault.
func correct(m domain.DataMap, table domain.Table, column domain.Column, value any) (any, *domain.FieldError) {
	if m.IsKey(table, column.Name) {
		return nil, fault(domain.FieldUnknown, "identifies or links records, and cannot be corrected")
	}
	return fit(column, value)
}

// inOrder lists faults by category, each with its field.
func inOrder(faults map[domain.Category]domain.FieldError) []domain.FieldError {
	var fields []domain.FieldError
	for _, category := range slices.Sorted(maps.Keys(faults)) {
		field := faults[category]
		field.Field = fieldOf(category)
		fields = append(fields, field)
	}
	return fields
}

// fieldOf returns the name of a category for an error. A name that does not have the form of a category may be any text
// from a client, and is not repeated.
func fieldOf(category domain.Category) string {
	const most = 32
	unlike := func(r rune) bool { return (r < 'a' || 'z' < r) && r != '_' }
	if len(category) > most || strings.ContainsFunc(string(category), unlike) {
		return "corrections"
	}
	return string(category)
}
