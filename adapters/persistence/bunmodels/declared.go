package bunmodels

import (
	"cmp"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
)

// fromParents gives tables the relations that only the other table declares, as has-one or has-many. The subject's
// table gets none: it refers to no table of its own data map.
func fromParents(models []*modelReader) {
	for _, parent := range models {
		for _, d := range parent.declared {
			i := slices.IndexFunc(models, func(r *modelReader) bool { return r.table.Name == d.table && r.model != nil })
			if i < 0 {
				if d.tagged != "" {
					parent.report(d.field, domain.Problem{
						Message: "is marked as the path, but the model of " + d.table + " is not among the models", Found: d.tagged,
						Remedy: "add the model, or take the tag off",
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

// take adds a relation that another model declares, unless the model declares it itself.
func (r *modelReader) take(parent *modelReader, d declared) {
	i := slices.IndexFunc(r.table.Relations, d.relation.Equals)
	switch {
	case i < 0:
		r.table.Relations = append(r.table.Relations, d.relation)
	case d.tagged != "" && r.table.Relations[i].Name != d.field:
		parent.report(d.field, domain.Problem{
			Message: "is marked as the path, but " + r.table.Name + " declares that relation, too", Found: d.tagged,
			Remedy: "mark it there: " + r.table.Name + "." + r.table.Relations[i].Name,
		})
	}
}

// nameChoices takes the names off the relations of tables in which there is nothing to choose between.
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

// notNull finds references that an erasure sets to NULL although the model says that they never are.
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

// relate lets bun read the relations of a model that it has met in those of another one. A model that bun cannot read
// is not one that the application gives us.
func relate(db *bun.DB, table *schema.Table) {
	defer func() { _ = recover() }()
	if table != nil {
		db.Table(table.Type)
	}
}

// unmapped names the tables that bun knows of, that are related to a table of the data map, and that are not in it.
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
