package bunmodels

import (
	"cmp"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
)

// fromParents adds the relations that only the referenced table declares, as has-one or has-many. It adds none to the
// subject's table, which must not refer to a table of its data map.
func fromParents(models []*modelReader) {
	for _, parent := range models {
		for _, d := range parent.declared {
			i := slices.IndexFunc(models, func(r *modelReader) bool { return r.table.Name == d.table && r.model != nil })
			if i < 0 {
				if d.tagged != "" {
					parent.report(d.field, domain.Problem{
						Message: "is marked as the path, but the model of " + d.table + " is not among the models", Found: d.tagged,
						Remedy: "add the model, or remove the tag",
					})
				}
				continue
			}
			if len(models[i].table.SubjectKey) == 0 {
				models[i].take(parent, d)
			}
		}
	}
}

// take adds a relation that another model declares, unless this model declares it too.
func (r *modelReader) take(parent *modelReader, d declared) {
	i := slices.IndexFunc(r.table.Relations, d.relation.Equals)
	switch {
	case i < 0:
		r.table.Relations = append(r.table.Relations, d.relation)
	case d.tagged != "" && r.table.Relations[i].Name != d.field:
		parent.report(d.field, domain.Problem{
			Message: "is marked as the path, but " + r.table.Name + " also declares that relation", Found: d.tagged,
			Remedy: "mark it there: " + r.table.Name + "." + r.table.Relations[i].Name,
		})
	}
}

// nameChoices removes the names of relations from tables with at most one path relation, where names are not needed.
func nameChoices(models []*modelReader) {
	for _, r := range models {
		marked := 0
		for _, relation := range r.table.Relations {
			if relation.Path {
				marked++
			}
		}
		if marked > 1 {
			continue
		}
		for i := range r.table.Relations {
			r.table.Relations[i].Name = ""
		}
	}
}

// notNull finds references that an erasure sets to NULL although their bun tag says notnull.
func notNull(m domain.DataMap, models []*modelReader) []domain.Problem {
	var problems []domain.Problem
	for _, r := range models {
		seen := map[string]bool{}
		for _, path := range m.Paths(r.table.Name) {
			for _, name := range m.Clears(r.table, path) {
				field := r.model.FieldMap[name]
				if seen[name] || field == nil || !field.NotNull {
					continue
				}
				seen[name] = true
				problems = append(problems, domain.Problem{
					Table: r.table.Name, Column: name, Found: string(domain.StrategyNull),
					Message: "cannot be set to NULL: its bun tag says that it is never NULL",
					Remedy:  "delete the row (erasure:delete), or remove the erasure",
				})
			}
		}
	}
	return problems
}

// relate makes bun read the relations of a model that it has only met in relations of other models. It ignores models
// that bun cannot read, because the application has not passed them to Read.
func relate(db *bun.DB, table *schema.Table) {
	defer func() { _ = recover() }()
	if table != nil {
		db.Table(table.Type)
	}
}

// unmapped returns a notice for each table that bun knows and that refers to a table of the data map, but is not in the
// data map.
func unmapped(db *bun.DB, m domain.DataMap) []domain.Notice {
	var notices []domain.Notice
	add := func(table *schema.Table, columns []*schema.Field, to *schema.Table) {
		_, outside := m.Table(table.Name)
		_, mapped := m.Table(to.Name)
		if outside || !mapped {
			return
		}
		notices = append(notices, domain.Notice{
			Table: table.Name, Column: strings.Join(namesOf(columns), ", "), Message: "refers to " + to.Name +
				", and its table is not in the data map: an export and an erasure pass it over",
		})
	}
	for _, table := range db.Dialect().Tables().All() {
		for _, relation := range table.Relations {
			relate(db, relation.JoinTable)
			relate(db, relation.M2MTable)
		}
	}
	for _, table := range db.Dialect().Tables().All() {
		for _, relation := range table.Relations {
			switch relation.Type {
			case schema.BelongsToRelation:
				add(table, relation.BasePKs, relation.JoinTable)
			case schema.HasOneRelation, schema.HasManyRelation:
				if !pointsAway(relation) {
					add(relation.JoinTable, relation.JoinPKs, table)
				}
			case schema.ManyToManyRelation:
				add(relation.M2MTable, relation.M2MBasePKs, table)
			}
		}
	}
	slices.SortFunc(notices, func(a, b domain.Notice) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(notices)
}
