package bunmodels

import (
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// collisions returns a problem for each unique constraint that an erasure could violate: the erasure would write equal
// values into several rows that it does not delete.
//
// A path is a chain of relations from a table to the table of subjects. An erasure of a subject overwrites only the
// columns that the data map assigns to the path by which a row belongs to the subject. collisions therefore checks each
// path of a table separately.
func collisions(m datamap.DataMap, models []*modelReader) []domain.Problem {
	var problems []domain.Problem
	for _, r := range models {
		table, ok := m.Table(r.table.Name)
		if !ok || r.model == nil {
			continue
		}
		paths := m.Paths(table.Name)
		if len(paths) == 0 { // the paths are unknown
			paths = []datamap.Path{{}}
		}
		var reported []string
		for _, group := range uniqueGroups(r.model) {
			for _, path := range paths {
				for _, column := range collidingIn(m, table, path, group) {
					if !slices.Contains(reported, column.Name) {
						reported = append(reported, column.Name)
						problems = append(problems, collision(table, column, group))
					}
				}
			}
		}
	}
	return problems
}

// uniqueGroups returns the columns of each unique constraint of a model.
func uniqueGroups(model *schema.Table) [][]*schema.Field {
	var groups [][]*schema.Field
	for _, name := range slices.Sorted(maps.Keys(model.Unique)) {
		if name != "" {
			groups = append(groups, model.Unique[name])
			continue
		}
		for _, field := range model.Unique[name] { // each of these columns is unique by itself
			groups = append(groups, []*schema.Field{field})
		}
	}
	return groups
}

// collidingIn returns those columns of a unique constraint into which an erasure would write equal values, if the rows
// belong to the erased subject by the path. The result is empty if the erasure deletes the rows, or if another column
// of the constraint gets NULL or a different value in each row.
func collidingIn(m datamap.DataMap, table datamap.Table, path datamap.Path, group []*schema.Field) []datamap.Column {
	if m.RowsDeleted(table, path) {
		return nil
	}
	clears := m.ClearedColumns(table, path)
	var colliding []datamap.Column
	for _, field := range group {
		column, ok := table.Column(field.Name)
		switch {
		case slices.Contains(clears, field.Name):
			return nil
		case !ok || !path.Has(column):
		case column.Personal.Strategy == domain.StrategyNull:
			return nil
		case column.Personal.Strategy == domain.StrategyRetain && column.Personal.Since == "": // keeps its value
		case column.Unique() && column.Personal.Strategy != domain.StrategyRetain:
			return nil
		case !column.Unique():
			colliding = append(colliding, column)
		}
	}
	return colliding
}

func collision(table datamap.Table, column datamap.Column, group []*schema.Field) domain.Problem {
	problem := domain.Problem{
		Table: table.Name, Column: column.Name,
		Message: "is unique in the database, but its surrogates are all equal",
		Found:   column.Surrogate,
		Remedy:  "use erasure:null",
	}
	if len(group) > 1 {
		problem.Message = "is unique in the database with " + strings.Join(namesOf(group), ", ") +
			", but its surrogates are all equal"
	}
	if column.Type == datamap.TypeText {
		problem.Remedy += ", or give it a surrogate with a placeholder: surrogate:'{}@erased.invalid'"
	}
	return problem
}
