package datamap

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// ReadDataMap works like NewDataMap, for readers. A reader is code that creates the tables from models or from another
// description. The parameter readerProblems lists the mistakes that the reader itself noticed. If there are mistakes,
// the error names the operation op, and lists readerProblems and the mistakes of the tables.
//
// For a table that the reader could not read, pass a Table that has only a name. Such a table, or a relation with a
// mistake in readerProblems, may cause further mistakes. ReadDataMap does not report these.
func ReadDataMap(op string, tables []Table, readerProblems []domain.Problem) (DataMap, error) {
	d := &draft{DataMap: DataMap{index: map[string]int{}, paths: map[string][]Path{}}}
	d.addTables(tables, readerProblems)
	for _, table := range d.tables {
		d.checkTable(table)
	}
	d.report(d.cycles()...)
	d.findPaths(readerProblems)
	for _, table := range d.tables {
		d.checkPaths(table)
		d.checkSurrogates(table)
		d.checkDeletes(table)
	}
	problems := slices.Concat(readerProblems, d.problems)
	if len(problems) == 0 {
		return d.DataMap, nil
	}
	return DataMap{}, d.refuse(op, tables, problems)
}

// addTables adds a copy of each table that could be read, with the subject's table first. It also fills d.index, which
// maps the name of a table to its position.
func (d *draft) addTables(tables []Table, readerProblems []domain.Problem) {
	for _, table := range tables {
		unread := len(table.Columns) == 0 &&
			slices.ContainsFunc(readerProblems, func(p domain.Problem) bool { return p.Table == table.Name })
		twice := slices.ContainsFunc(d.tables, func(t Table) bool { return t.Name == table.Name })
		switch {
		case unread:
			d.incomplete = true
		case twice:
			d.report(domain.Problem{Table: table.Name, Message: "is declared twice", Remedy: "declare it once"})
		default:
			d.tables = append(d.tables, cloneTable(table))
		}
	}
	d.subjectAt = slices.IndexFunc(d.tables, isSubject)
	if d.subjectAt < 0 {
		d.subjectAt = 0
		if !d.incomplete {
			d.report(domain.Problem{
				Message: "no table is marked as the subject's table",
				Remedy:  `mark its key columns: subject:"id" in a model, subject_key in a manifest`,
			})
		}
	} else {
		first := d.tables[d.subjectAt]
		d.tables = slices.Insert(slices.Delete(d.tables, d.subjectAt, d.subjectAt+1), 0, first)
	}
	for i, table := range d.tables {
		d.index[table.Name] = i
		if i > 0 && isSubject(table) {
			d.report(domain.Problem{
				Table: table.Name, Message: "is marked as the subject's table, but the mark is also on " + d.tables[0].Name,
				Found: strings.Join(table.SubjectKey, ", "), Remedy: "mark only one of them",
			})
		}
	}
}

func isSubject(t Table) bool { return len(t.SubjectKey) > 0 }

// findPaths finds the paths of all other tables. It skips these tables:
//
//   - a table in a cycle of relations
//   - a table with a mistake in readerProblems that concerns a relation, or another field that is not a column
func (d *draft) findPaths(readerProblems []domain.Problem) {
	if len(d.tables) == 0 || !isSubject(d.tables[0]) {
		return
	}
	d.paths[d.tables[0].Name] = []Path{{}}
	hasPath := map[string]bool{d.tables[0].Name: true} // the results of findPath for the examined tables
	for _, table := range d.tables[1:] {
		inCycle := d.ancestors(table.Name)[table.Name]
		atFault := slices.ContainsFunc(readerProblems, func(p domain.Problem) bool {
			_, isColumn := table.Column(p.Column)
			return p.Table == table.Name && p.Column != "" && !isColumn
		})
		if inCycle || atFault {
			hasPath[table.Name] = false
		}
	}
	for _, table := range d.tables[1:] {
		d.findPath(table, hasPath)
	}
}

// findPath finds the paths from the table to the subject's table, and reports whether there is one. If the table refers
// to a table that has no path, findPath reports only the mistake of that other table. The parameter hasPath holds the
// result for each examined table.
func (d *draft) findPath(table Table, hasPath map[string]bool) bool {
	if found, seen := hasPath[table.Name]; seen {
		return found
	}
	hasPath[table.Name] = false
	candidates := d.candidates(table)
	marked := slices.ContainsFunc(candidates, func(r Relation) bool { return r.Path })
	switch {
	case isSubject(table): // addTables has reported the mistake
	case len(candidates) == 0 && !d.incomplete:
		d.report(domain.Problem{
			Table: table.Name, Message: "does not reach the subject's table by belongs-to relations",
			Found:    strings.Join(relationLabels(table.Relations), ", "),
			Possible: slices.DeleteFunc(d.otherTables(table), func(name string) bool { return !hasPath[name] }),
			Remedy: "add a belongs-to relation to the subject's table or to a table that reaches it, or the tag " +
				`subject:"references:table.column" to its column, or remove the table`,
		})
	case len(candidates) > 1 && !marked:
		d.report(domain.Problem{
			Table: table.Name, Message: "reaches the subject along several paths",
			Possible: relationLabels(candidates),
			Remedy: `mark one of its relations, or several if its rows are about several people: ` +
				`subject:"path" in a model, "path": true in a manifest`,
		})
	case len(candidates) > 0:
		for _, relation := range candidates {
			if !d.findPath(d.tables[d.index[relation.References]], hasPath) {
				return false
			}
		}
		hasPath[table.Name] = d.addPaths(table, candidates)
	}
	return hasPath[table.Name]
}

func relationLabels(relations []Relation) []string {
	labels := make([]string, len(relations))
	for i, relation := range relations {
		labels[i] = relation.label()
	}
	return labels
}

// cycles returns a problem for each cycle of relations between different tables. domain.Problem.Table is the
// alphabetically first table of the cycle without a subject key, or the alphabetically first table if all of them have
// a subject key.
func (m DataMap) cycles() []domain.Problem {
	var problems []domain.Problem
	reported := map[string]bool{}
	tables := slices.Clone(m.tables)
	slices.SortFunc(tables, func(a, b Table) int {
		if isSubject(a) != isSubject(b) {
			return map[bool]int{true: 1, false: -1}[isSubject(a)]
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, table := range tables {
		if reported[table.Name] {
			continue
		}
		ahead := m.ancestors(table.Name)
		if !ahead[table.Name] {
			continue
		}
		var members []string
		for _, other := range tables {
			if ahead[other.Name] && m.ancestors(other.Name)[table.Name] {
				members, reported[other.Name] = append(members, other.Name), true
			}
		}
		problems = append(problems, domain.Problem{
			Table: table.Name, Message: "is part of a cycle of relations between tables",
			Found:  strings.Join(members, ", "),
			Remedy: "remove one of these relations from the data map",
		})
	}
	return problems
}

// ancestors returns the tables that the table refers to, directly or through other tables.
func (m DataMap) ancestors(name string) map[string]bool {
	found := map[string]bool{}
	open := []string{name}
	for len(open) > 0 {
		table := m.tables[m.index[open[0]]]
		open = open[1:]
		for _, parent := range m.parents(table) {
			if !found[parent] {
				found[parent] = true
				open = append(open, parent)
			}
		}
	}
	return found
}
