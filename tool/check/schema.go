package check

import (
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// schema compares a data map with the live catalog of a database. It holds the findings of the checks that have run so
// far.
type schema struct {
	datamap.DataMap
	catalog   datamap.Catalog
	registers bool // the application calls Registered for new people
	manifest  bool // see Options.Manifest
	now       time.Time
	steps     []datamap.Step
	idle      bool // the plan has neither local nor external steps
	findings  []datamap.Finding
	verdicts  map[decided]datamap.Verdict
	facts     facts.Schema

	live     map[string]datamap.CatalogTable // by name in the data map; without tables that the database does not have
	mapped   map[string]datamap.Table        // by name in the catalog
	needed   map[string]bool                 // tables of the data map that an erasure or an export reads
	writes   []write
	losing   []string // tables from which the steps of an erasure, or then the database, delete rows
	cascaded []string // tables outside the data map from which the database deletes rows with those of an erasure
}

func newSchema(dataMap datamap.DataMap, plan datamap.Plan, catalog datamap.Catalog, manifest bool) *schema {
	s := &schema{
		DataMap: dataMap, catalog: catalog, steps: plan.Local(),
		idle: len(plan.Steps) == 0, manifest: manifest,
		findings: []datamap.Finding{}, live: map[string]datamap.CatalogTable{}, mapped: map[string]datamap.Table{},
		needed: map[string]bool{}, verdicts: map[decided]datamap.Verdict{},
	}
	s.catalog.Tables = slices.Clone(catalog.Tables)
	for i := range s.catalog.Tables {
		s.catalog.Tables[i].ForeignKeys = distinct(s.catalog.Tables[i].ForeignKeys)
	}
	for _, table := range s.Declared() {
		if live, ok := s.catalog.Table(table.Name); ok {
			s.live[table.Name], s.mapped[live.Name] = live, table
		}
	}
	s.facts = facts.Read(s.catalog, s.SubjectTable().Name, s.SubjectTable().SubjectKey)
	s.needed[s.SubjectTable().Name] = true
	for _, step := range s.steps {
		s.need(step.Target)
	}
	for _, table := range s.Tables() {
		if len(table.Personal()) > 0 {
			s.need(table.Name)
		}
	}
	s.writes = s.overwrites()
	return s
}

// distinct returns the foreign keys without duplicates. For example, each partition of a table may repeat a foreign
// key.
func distinct(all []datamap.CatalogForeignKey) []datamap.CatalogForeignKey {
	var kept []datamap.CatalogForeignKey
	for _, foreign := range all {
		if !slices.ContainsFunc(kept, func(k datamap.CatalogForeignKey) bool {
			return k.References == foreign.References && k.OnDelete == foreign.OnDelete && k.Follows == foreign.Follows &&
				k.ClearsOnUpdate == foreign.ClearsOnUpdate && k.ResetsOnUpdate == foreign.ResetsOnUpdate &&
				slices.Equal(k.Columns, foreign.Columns) && slices.Equal(k.Referenced, foreign.Referenced)
		}) {
			kept = append(kept, foreign)
		}
	}
	return kept
}

func (s *schema) need(table string) {
	s.needed[table] = true
	for _, path := range s.Paths(table) {
		for _, relation := range path.Relations {
			s.needed[relation.References] = true
		}
	}
}

// eachPresent calls visit for each declared table of the data map that exists in the database, in the order of the
// declaration.
func (s *schema) eachPresent(visit func(table datamap.Table, live datamap.CatalogTable)) {
	for _, table := range s.Declared() {
		if live, ok := s.live[table.Name]; ok {
			visit(table, live)
		}
	}
}

// mappedTable returns the table of the data map for the name that a foreign key, a trigger or a view uses.
func (s *schema) mappedTable(name string) (table datamap.Table, mapped bool) {
	if live, ok := s.catalog.Table(name); ok {
		name = live.Name
	}
	table, mapped = s.mapped[name]
	return table, mapped
}

func (s *schema) deletesRows(table string) bool {
	return slices.ContainsFunc(s.steps, func(step datamap.Step) bool {
		return step.Target == table && step.Strategy == domain.StrategyDelete
	})
}

// mayKeepRows reports whether an erasure keeps rows of the table that at least one path connects to the subject.
func (s *schema) mayKeepRows(table datamap.Table) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool { return !s.RowsDeleted(table, p) })
}

// isTable reports whether the object is a table and not a view, a foreign table or a virtual table.
func isTable(live datamap.CatalogTable) bool {
	return live.Kind == datamap.KindTable || live.Kind == datamap.KindPartitioned
}

func sameName(live datamap.CatalogTable, a, b string) bool {
	return live.Same(a, b)
}

func hasName(live datamap.CatalogTable, names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return sameName(live, other, name) })
}

func isSubset(live datamap.CatalogTable, columns, set []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool { return !hasName(live, set, name) })
}

// isUnique reports whether a primary key or a unique constraint guarantees that the combination of the columns is
// unique. NULL counts as different from NULL.
func isUnique(live datamap.CatalogTable, columns []string) bool {
	return isPrimaryKey(live, columns) || slices.ContainsFunc(live.Uniques, func(u datamap.CatalogUnique) bool {
		return guaranteesUnique(live, u, columns)
	})
}

// distinguishesRows is like isUnique, but NULL counts as equal to NULL.
func distinguishesRows(live datamap.CatalogTable, columns []string) bool {
	return isPrimaryKey(live, columns) || slices.ContainsFunc(live.Uniques, func(u datamap.CatalogUnique) bool {
		return guaranteesUnique(live, u, columns) && (u.NullsEqual || !slices.ContainsFunc(u.Columns, func(name string) bool {
			column, _ := live.Column(name)
			return column.Nullable
		}))
	})
}

// isPrimaryKey reports whether the columns contain all columns of the primary key that the table has in the database.
func isPrimaryKey(live datamap.CatalogTable, columns []string) bool {
	return len(live.PrimaryKey) > 0 && isSubset(live, live.PrimaryKey, columns)
}

// guaranteesUnique reports whether the constraint guarantees that the combination of the columns is unique. NULL counts
// as different from NULL.
func guaranteesUnique(live datamap.CatalogTable, u datamap.CatalogUnique, columns []string) bool {
	return !u.Partial && !u.Exclusion && !u.Expressions && len(u.Columns) > 0 && isSubset(live, u.Columns, columns)
}

// write holds the columns that an erasure overwrites in the rows of one path (chain of relations to the subject) of a
// table.
type write struct {
	table   datamap.Table
	live    datamap.CatalogTable
	columns []written
	outside []string // the partial unique indexes that surely leave out the rows after an erasure
}

// written is a column that an erasure overwrites.
type written struct {
	datamap.Column
	live    datamap.CatalogColumn
	null    bool // an erasure sets the column to NULL; otherwise it writes the surrogate
	expired bool // an erasure overwrites only cells whose retention duty has ended
}

// nullRemedy returns "set {null}, ", the first part of a remedy, if the column accepts NULL and the erasure does
// not already write NULL. Otherwise, it returns "".
func (c written) nullRemedy() string {
	if c.null || !c.live.Nullable {
		return ""
	}
	return "set {null}, "
}

// nullRemedy returns "set {null}, ", the first part of a remedy, if at least one of the named columns can be set
// to NULL instead of its surrogate (replacement value). Otherwise, it returns "".
func (w write) nullRemedy(names []string) string {
	for _, column := range w.columns {
		if remedy := column.nullRemedy(); remedy != "" && hasName(w.live, names, column.Name) {
			return remedy
		}
	}
	return ""
}

// overwrites returns the columns that the plan overwrites and that exist in the database, grouped by table and path.
func (s *schema) overwrites() []write {
	var all []write
	type rows struct{ table, via string }
	at := map[rows]int{}
	for _, step := range s.steps {
		live, ok := s.live[step.Target]
		if !ok || step.Strategy == domain.StrategyDelete {
			continue
		}
		key := rows{step.Target, step.Via}
		i, known := at[key]
		if !known {
			table, _ := s.Table(step.Target)
			i, all = len(all), append(all, write{table: table, live: live})
			at[key] = i
		}
		if step.Strategy == domain.StrategyAnonymize {
			all[i].add(step.Columns, false, false)
			all[i].add(step.ClearedColumns, true, false)
		}
		all[i].add(step.Expired, false, true)
	}
	return slices.DeleteFunc(all, func(w write) bool { return len(w.columns) == 0 })
}

func (w *write) add(names []string, null, expired bool) {
	for _, name := range names {
		column, _ := w.table.Column(name)
		live, ok := w.live.Column(name)
		if !ok {
			continue
		}
		null := null || column.IsNulled()
		w.columns = append(w.columns, written{column, live, null, expired})
	}
}

// writtenColumns returns, without duplicates, the columns that an erasure overwrites in at least some rows of a table.
func (s *schema) writtenColumns(table string) []written {
	var all []written
	for _, w := range s.writes {
		for _, column := range w.columns {
			if w.table.Name == table && !slices.ContainsFunc(all, func(c written) bool { return c.Name == column.Name }) {
				all = append(all, column)
			}
		}
	}
	return all
}

// distance returns the length of the shortest path from a table of the data map to a person.
func (s *schema) distance(table string) int {
	shortest := 0
	for i, path := range s.Paths(table) {
		if i == 0 || len(path.Relations) < shortest {
			shortest = len(path.Relations)
		}
	}
	return shortest
}

func list(names []string) string { return strings.Join(names, ", ") }

func inForeignKey(live datamap.CatalogTable, column string) bool {
	return slices.ContainsFunc(live.ForeignKeys, func(f datamap.CatalogForeignKey) bool {
		return hasName(live, f.Columns, column)
	})
}
