package bunmodels

import (
	"cmp"
	"reflect"

	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// readAnnotation reads the pii tag of a field and sets the annotation of its column.
func (r *modelReader) readAnnotation(field *schema.Field, column *datamap.Column, text string) {
	tag, problems := parseTag(text)
	column.Personal, column.Always = &tag.annotation, tag.always
	if tag.zone != "" {
		r.zoned = append(r.zoned, zoned{column.Name, tag.zone, tag.annotation.From})
	}
	nulled := tag.annotation.Strategy == domain.StrategyNull
	if tag.surrogate != "" || nulled {
		column.Surrogate, column.SurrogateOfType = tag.surrogate, false
		column.Type = cmp.Or(column.Type, datamap.TypeText)
	}
	switch {
	case column.Type == "":
		problems = append(problems, domain.Problem{
			Message: "has the type " + field.IndirectType.String() + ", for which no surrogate is known",
			Found:   field.IndirectType.String(),
			Remedy:  "add the type to Config.CustomTypes, or give the column a surrogate",
		})
		column.Type = datamap.TypeText // prevents further problems with the type
	case nulled:
		problems = append(problems, nullProblems(field)...)
	default:
		problems = append(problems, surrogateProblems(field, *column)...)
	}
	for _, problem := range problems {
		r.report(column.Name, problem)
	}
}

// nullProblems returns the reasons why an erasure cannot set the column of a field to NULL. Without this check, the
// first erasure would fail, or the application could no longer read the row after the erasure.
func nullProblems(field *schema.Field) []domain.Problem {
	switch {
	case field.IsPK || field.NotNull:
		return []domain.Problem{{
			Message: "cannot be set to NULL: its bun tag says that it is never NULL", Found: string(domain.StrategyNull),
			Possible: []string{string(domain.StrategyErase), string(domain.StrategyAnonymize)},
		}}
	case field.ScanWithCheck(reflect.New(field.StructField.Type).Elem(), nil) != nil:
		return []domain.Problem{{
			Message: "cannot be set to NULL: its field cannot read NULL, because it has the type " + field.IndirectType.String(),
			Found:   string(domain.StrategyNull), Remedy: "make the field a pointer, or use erasure:anonymize",
		}}
	}
	return nil
}

// surrogateProblems returns a problem if the Go field cannot read the surrogate constant of its column, which is the
// constant that overwrites an erased value. The data map checks everything else about the constant.
func surrogateProblems(field *schema.Field, column datamap.Column) []domain.Problem {
	const digits = "0123456789abcdef0123456789abcdef"
	if _, ok := column.Constant(); !ok ||
		field.ScanWithCheck(reflect.New(field.StructField.Type).Elem(), column.Filled(digits)) == nil {
		return nil
	}
	return []domain.Problem{{
		Message: "has a surrogate that its field cannot read: the field has the type " + field.IndirectType.String(),
		Found:   column.Surrogate, Remedy: "give a surrogate that is a value of this type",
	}}
}
