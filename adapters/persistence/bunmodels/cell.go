package bunmodels

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
)

// readAnnotation reads the pii tag of a column.
func (r *modelReader) readAnnotation(field *schema.Field, column *domain.Column, text string) {
	tag, problems := parseTag(text)
	column.Personal = &tag.annotation
	nulled := tag.annotation.Strategy == domain.StrategyNull
	if tag.surrogate != "" || nulled {
		column.Surrogate = tag.surrogate
		if column.Type == "" {
			column.Type = domain.TypeText
		}
	}
	switch {
	case column.Type == "":
		problems = append(problems, domain.Problem{
			Message: "is of the type " + field.IndirectType.String() + ", for which no surrogate is known",
			Found:   field.IndirectType.String(),
			Remedy:  "register a CustomType, or give the column a surrogate",
		})
		column.Type = domain.TypeText // so that it is reported once
	case nulled:
		problems = append(problems, nullProblems(field)...)
	default:
		problems = append(problems, surrogateProblems(field, *column)...)
	}
	for _, problem := range problems {
		r.report(column.Name, problem)
	}
}

// nullProblems finds what is wrong with a column that is to be set to NULL. It must not be found by the first erasure,
// nor by the first query of the application after it.
func nullProblems(field *schema.Field) []domain.Problem {
	switch {
	case field.IsPK || field.NotNull:
		return []domain.Problem{{
			Message: "cannot be set to NULL: its bun tag says that it is never NULL", Found: string(domain.StrategyNull),
			Possible: []string{string(domain.StrategyErase), string(domain.StrategyAnonymize)},
		}}
	case field.ScanWithCheck(reflect.New(field.StructField.Type).Elem(), nil) != nil:
		return []domain.Problem{{
			Message: "cannot be set to NULL: its field could not read NULL, it is of the type " + field.IndirectType.String(),
			Found:   string(domain.StrategyNull), Remedy: "make the field a pointer, or say erasure:anonymize",
		}}
	}
	return nil
}

// surrogateProblems finds what is wrong with the constant to overwrite a column with. The rest is checked with the data
// map.
func surrogateProblems(field *schema.Field, column domain.Column) []domain.Problem {
	const digits = "0123456789abcdef0123456789abcdef"
	if _, ok := column.Constant(); !ok ||
		field.ScanWithCheck(reflect.New(field.StructField.Type).Elem(), column.Filled(digits)) == nil {
		return nil
	}
	return []domain.Problem{{
		Message: "has a surrogate that its field could not read: it is of the type " + field.IndirectType.String(),
		Found:   column.Surrogate, Remedy: "give a surrogate that is a value of this type",
	}}
}

// checkUnique refuses columns of which the database keeps no two equal ones, where the erasure would write equal ones.
// One column whose surrogates are unique, or that is set to NULL, is enough for a constraint on several columns.
func (r *modelReader) checkUnique() {
	if r.table.RowsGo() {
		return
	}
	var reported []string
	for _, name := range slices.Sorted(maps.Keys(r.model.Unique)) {
		groups := [][]*schema.Field{r.model.Unique[name]}
		if name == "" { // each of these is unique by itself
			groups = singles(r.model.Unique[name])
		}
		for _, group := range groups {
			for _, column := range r.collidingIn(group) {
				if !slices.Contains(reported, column.Name) {
					reported = append(reported, column.Name)
					r.report(column.Name, collision(column, group))
				}
			}
		}
	}
}

// collidingIn returns the columns of a unique constraint for which an erasure would write equal values.
func (r *modelReader) collidingIn(group []*schema.Field) []domain.Column {
	var colliding []domain.Column
	for _, field := range group {
		column, ok := r.table.Column(field.Name)
		switch {
		case !ok || column.Personal == nil:
		case column.Personal.Strategy == domain.StrategyNull:
			return nil
		case column.Personal.Strategy == domain.StrategyRetain && column.Personal.Since == "": // stays as it is
		case column.Unique() && column.Personal.Strategy != domain.StrategyRetain:
			return nil
		case !column.Unique():
			colliding = append(colliding, column)
		}
	}
	return colliding
}

func collision(column domain.Column, group []*schema.Field) domain.Problem {
	problem := domain.Problem{
		Message: "is unique in the database, but its surrogates are all equal",
		Found:   column.Surrogate,
		Remedy:  "say erasure:null",
	}
	if len(group) > 1 {
		names := make([]string, len(group))
		for i, field := range group {
			names[i] = field.Name
		}
		problem.Message = "is unique in the database with " + strings.Join(names, ", ") + ", but its surrogates are all equal"
	}
	if column.Type == domain.TypeText {
		problem.Remedy += ", or give it a surrogate with a placeholder: surrogate:'{}@erased.invalid'"
	}
	return problem
}

func singles(fields []*schema.Field) [][]*schema.Field {
	groups := make([][]*schema.Field, len(fields))
	for i, field := range fields {
		groups[i] = []*schema.Field{field}
	}
	return groups
}
