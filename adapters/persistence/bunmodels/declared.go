package bunmodels

import (
	"cmp"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// fromParents adds the relations that only the model of the referenced table declares, as has-one or has-many. The
// subject's table gets no such relation, because it must not refer to another table of the data map.
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
				models[i].addDeclared(parent, d)
			}
		}
	}
}

// addDeclared adds the relation d, which the parent model declares, to the table of r. If the model of r declares the
// same relation, addDeclared does not add it again. In this case, a path tag must be in the model of r, so addDeclared
// reports a problem if the tag is in the parent model.
func (r *modelReader) addDeclared(parent *modelReader, d declared) {
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

// removeUnusedNames removes the names of the relations of each table that has at most one relation with the tag
// subject:"path". Only a table with several such relations needs the names, because the option "via" of a column then
// refers to one of them.
func removeUnusedNames(models []*modelReader) {
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

// notNull returns a problem for each reference that an erasure would set to NULL, although its bun tag says notnull.
func notNull(m datamap.DataMap, models []*modelReader) []domain.Problem {
	var problems []domain.Problem
	for _, r := range models {
		seen := map[string]bool{}
		for _, name := range clears(m, r.table) {
			field := r.model.FieldMap[name]
			if seen[name] || field == nil || !field.NotNull {
				continue
			}
			seen[name] = true
			problems = append(problems, domain.Problem{
				Table: r.table.Name, Column: name, Found: string(domain.StrategyNull),
				Message: "cannot be set to NULL: its bun tag says that it is never NULL",
				Remedy:  "delete the row (erasure:delete), or remove erasure:null",
			})
		}
	}
	return problems
}

// clears returns the columns of references that an erasure sets to NULL in rows of a table.
func clears(m datamap.DataMap, table datamap.Table) []string {
	var names []string
	for _, path := range m.Paths(table.Name) {
		names = append(names, m.ClearedColumns(table, path)...)
	}
	for _, reference := range m.SelfReferences(table) {
		names = append(names, reference.ClearedColumns...)
	}
	return names
}

// readRelationsOf makes bun read the relations of a table's model. bun does not read these relations itself if only
// another model mentions this model. If bun panics because it cannot read the model, readRelationsOf ignores the panic,
// because the application has not passed this model to Read.
func readRelationsOf(db *bun.DB, table *schema.Table) {
	defer func() { _ = recover() }()
	if table != nil {
		db.Table(table.Type)
	}
}

// unmapped returns a notice for each table that is missing in the data map although it refers to a table of the data
// map. It finds such tables in the models that bun knows.
func unmapped(db *bun.DB, m datamap.DataMap) []datamap.Notice {
	var notices []datamap.Notice
	add := func(table *schema.Table, columns []*schema.Field, to *schema.Table) {
		_, outside := m.Table(table.Name)
		_, mapped := m.Table(to.Name)
		if outside || !mapped {
			return
		}
		notices = append(notices, datamap.Notice{
			Table: table.Name, Column: strings.Join(namesOf(columns), ", "), Message: "refers to " + to.Name +
				", but this table is not in the data map: exports and erasures ignore it",
		})
	}
	for _, table := range db.Dialect().Tables().All() {
		for _, relation := range table.Relations {
			readRelationsOf(db, relation.JoinTable)
			readRelationsOf(db, relation.M2MTable)
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
	slices.SortFunc(notices, func(a, b datamap.Notice) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(notices)
}
