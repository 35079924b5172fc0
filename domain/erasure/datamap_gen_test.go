package erasure_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// generated is a random data map. Its methods implement the rules of erasure a second time, in the simplest way. The
// tests compare plans with this second implementation.
type generated struct {
	tables []datamap.Table
	path   map[string][]string // the path of each table to the subject's table, inclusive
}

// dataMaps draws valid data maps of two to six tables. They have composite keys, keys that are foreign keys, long and
// alternative paths to the subject, self-references, relations to tables outside of the map, and annotations of every
// kind.
func dataMaps() *rapid.Generator[generated] {
	return rapid.Custom(func(t *rapid.T) generated {
		names := rapid.Permutation([]string{"apples", "bikes", "cards", "deeds", "eggs", "farms"}).Draw(t, "names")
		g := generated{path: map[string][]string{}}
		for _, name := range names[:rapid.IntRange(2, 6).Draw(t, "tables")] {
			g.tables = append(g.tables, g.drawTable(t, name))
		}
		g.tables = rapid.Permutation(g.tables).Draw(t, "declared order")
		return g
	})
}

// drawTable draws the next table and returns it. The first table of a data map is the subject's table. Each later table
// refers to earlier tables.
func (g generated) drawTable(t *rapid.T, name string) datamap.Table {
	coin := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
	table := datamap.Table{Name: name, Owned: coin("owned"), PrimaryKey: []string{"id"}}
	addColumn(&table, "id", datamap.TypeBigInt)
	addColumn(&table, "code", datamap.TypeText)
	if coin("composite key") {
		addColumn(&table, "part", datamap.TypeText)
		table.PrimaryKey = []string{"part", "id"}
	}
	if len(g.tables) == 0 {
		table.SubjectKey = slices.Clone(table.PrimaryKey)
		g.path[name] = nil
	} else {
		parent := rapid.SampledFrom(g.tables).Draw(t, "parent")
		g.path[name] = append([]string{parent.Name}, g.path[parent.Name]...)
		relate(&table, "to", parent, coin("by code"))
		if coin("identifying") {
			table.PrimaryKey = append(table.PrimaryKey, table.Relations[0].Columns...)
		}
		if coin("rival") {
			table.Relations[0].Path = true
			relate(&table, "also", rapid.SampledFrom(g.tables).Draw(t, "rival parent"), coin("rival by code"))
			table.Relations[1].SetsNull = coin("rival sets null")
		}
	}
	if coin("self-reference") {
		relate(&table, "self", table, false)
	}
	if coin("relation out of the map") {
		relate(&table, "out", datamap.Table{Name: "countries", PrimaryKey: []string{"id"}}, false)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "columns") {
		types := []datamap.ColumnType{
			datamap.TypeText, datamap.TypeNumber, datamap.TypeBoolean, datamap.TypeTime,
			datamap.TypeJSON,
		}
		addColumn(&table, fmt.Sprintf("c%d", i), rapid.SampledFrom(types).Draw(t, "type"))
	}
	mood := rapid.SampledFrom([]string{"bare", "delete", "mixed", "mixed", "mixed keys"}).Draw(t, "mood")
	if slices.ContainsFunc(g.path[name], func(parent string) bool { return losesRows(g.table(parent)) }) &&
		!coin("conflict") {
		mood, table.Owned = "delete", true // the planner would refuse rows that survive
	}
	annotate(t, &table, mood)
	return table
}

func addColumn(table *datamap.Table, name string, columnType datamap.ColumnType) {
	table.Columns = append(table.Columns, datamap.Column{Name: name, Type: columnType})
}

// relate adds a relation to the parent's primary key or to its column "code".
func relate(table *datamap.Table, prefix string, parent datamap.Table, byCode bool) {
	relation := datamap.Relation{References: parent.Name, ReferencedColumns: slices.Clone(parent.PrimaryKey)}
	if byCode {
		relation.ReferencedColumns = []string{"code"}
	}
	for _, referenced := range relation.ReferencedColumns {
		name := prefix + "_" + referenced
		relation.Columns = append(relation.Columns, name)
		addColumn(table, name, datamap.TypeText)
	}
	table.Relations = append(table.Relations, relation)
}

// annotate draws the annotations of a table. The parameter mood decides which strategies it draws. With the mood
// "delete", for example, it draws only strategies that delete the rows, because random strategies rarely delete rows.
func annotate(t *rapid.T, table *datamap.Table, mood string) {
	nothing, all := []domain.Strategy{""}, []domain.Strategy{
		"", domain.StrategyErase, domain.StrategyAnonymize, domain.StrategyNull, domain.StrategyRetain,
	}
	for i := range table.Columns {
		column := &table.Columns[i]
		choice := all
		switch isKey := links(*table, column.Name); {
		case mood == "bare", mood == "mixed" && isKey, mood == "delete" && isKey:
			choice = nothing
		case mood == "delete":
			choice = []domain.Strategy{domain.StrategyDelete, domain.StrategyErase}
		}
		if strategy := rapid.SampledFrom(choice).Draw(t, "strategy"); strategy != "" {
			column.Personal = &datamap.Annotation{Category: domain.CategoryFinancial, Strategy: strategy}
			if strategy == domain.StrategyRetain {
				column.Personal.Reason = "duty"
			}
		}
	}
}

// links reports whether the column is in the primary key or in a foreign key.
func links(table datamap.Table, column string) bool {
	return slices.Contains(table.PrimaryKey, column) || slices.ContainsFunc(table.Relations,
		func(r datamap.Relation) bool {
			return slices.Contains(r.Columns, column)
		})
}

func (g generated) table(name string) datamap.Table {
	return g.tables[slices.IndexFunc(g.tables, func(t datamap.Table) bool { return t.Name == name })]
}

// columns returns the names of the columns annotated with one of the strategies, in the order of the table.
func columns(table datamap.Table, strategies ...domain.Strategy) []string {
	var names []string
	for _, column := range table.Columns {
		if column.Personal != nil && slices.Contains(strategies, column.Personal.Strategy) {
			names = append(names, column.Name)
		}
	}
	return names
}

// losesRows reports whether an erasure must delete the subject's rows of the table.
func losesRows(table datamap.Table) bool {
	if len(columns(table, domain.StrategyAnonymize, domain.StrategyNull, domain.StrategyRetain)) > 0 {
		return false
	}
	personal := columns(table, domain.StrategyErase, domain.StrategyDelete)
	foreign := slices.ContainsFunc(table.Columns, func(c datamap.Column) bool {
		return !slices.Contains(personal, c.Name) && !links(table, c.Name)
	})
	return table.Owned || len(personal) > 0 && !foreign
}

// fault returns the code of the error with which the planner must refuse the table. If the planner must accept the
// table, the code is empty.
func (g generated) fault(table datamap.Table) domain.Code {
	if losesRows(table) {
		return g.leadsElsewhere(table)
	}
	for _, parent := range append(g.dependsOn(table), g.path[table.Name]...) {
		if losesRows(g.table(parent)) {
			if len(columns(table, domain.StrategyRetain)) > 0 {
				return domain.ErrRetention
			}
			return domain.ErrManifest
		}
	}
	if code := g.clears(table); code != "" {
		return code
	}
	for _, name := range columns(table, domain.StrategyErase, domain.StrategyAnonymize, domain.StrategyNull) {
		if links(table, name) || g.isReferenced(table.Name, name) {
			return domain.ErrManifest
		}
	}
	return ""
}

// leadsElsewhere returns the code of the error with which the planner must refuse a table whose rows are deleted: a
// relation that is not the path leads to deleted rows, which may be rows of another person.
func (g generated) leadsElsewhere(table datamap.Table) domain.Code {
	for i, relation := range table.Relations {
		isPath := i == 0 && len(g.path[table.Name]) > 0
		inMap := slices.ContainsFunc(g.tables, func(t datamap.Table) bool { return t.Name == relation.References })
		if !isPath && inMap && relation.References != table.Name && !relation.SetsNull &&
			losesRows(g.table(relation.References)) {
			return domain.ErrManifest
		}
	}
	return ""
}

// clears returns the code of the error with which the planner must refuse an ON DELETE SET NULL. The planner refuses it
// if a column of the reference must keep its value. Otherwise the code is empty.
func (g generated) clears(table datamap.Table) domain.Code {
	var code domain.Code
	for _, relation := range table.Relations {
		inMap := slices.ContainsFunc(g.tables, func(t datamap.Table) bool { return t.Name == relation.References })
		if !inMap || !relation.SetsNull || !losesRows(g.table(relation.References)) {
			continue
		}
		for _, name := range relation.Columns {
			switch {
			case slices.Contains(columns(table, domain.StrategyRetain), name):
				return domain.ErrRetention
			case slices.Contains(append(table.PrimaryKey, table.Relations[0].Columns...), name):
				code = domain.ErrManifest
			}
		}
	}
	return code
}

// dependsOn returns the tables that the rows of the given table refer to. It omits a table outside of the data map, the
// given table itself, and a reference that the database sets to NULL.
func (g generated) dependsOn(table datamap.Table) []string {
	var parents []string
	for _, relation := range table.Relations {
		inMap := slices.ContainsFunc(g.tables, func(t datamap.Table) bool { return t.Name == relation.References })
		if inMap && relation.References != table.Name && !relation.SetsNull {
			parents = append(parents, relation.References)
		}
	}
	return parents
}

func (g generated) isReferenced(table, column string) bool {
	for _, other := range g.tables {
		for _, relation := range other.Relations {
			if relation.References == table && slices.Contains(relation.ReferencedColumns, column) {
				return true
			}
		}
	}
	return false
}

// faults returns the faults of all tables.
func (g generated) faults() []domain.Code {
	var codes []domain.Code
	for _, table := range g.tables {
		if code := g.fault(table); code != "" {
			codes = append(codes, code)
		}
	}
	return codes
}

// The property tests cover only the kinds of data maps that the generator draws, so it must draw every kind.
func TestTheGeneratorDrawsEveryKindOfDataMap(t *testing.T) {
	const draws = 500
	seen := map[string]int{}
	for seed := range draws {
		g := dataMaps().Example(seed)
		faults := g.faults()
		count := func(what string, is bool) {
			if is {
				seen[what]++
			}
		}
		count("good", len(faults) == 0)
		count("good with four tables", len(faults) == 0 && len(g.tables) >= 4)
		count("a retention violation", slices.Contains(faults, domain.ErrRetention))
		count("a manifest error", slices.Contains(faults, domain.ErrManifest))
		for _, table := range g.tables {
			count("three hops", len(g.path[table.Name]) >= 3)
			count("a good map with deleted rows", len(faults) == 0 && losesRows(table))
			count("a good map with retained columns", len(faults) == 0 && len(columns(table, domain.StrategyRetain)) > 0)
			count("a composite key", len(table.PrimaryKey) > 1)
			count("a rival path", len(g.path[table.Name]) > 0 && table.Relations[0].Path)
		}
	}
	for _, what := range []string{
		"good", "good with four tables", "a retention violation", "a manifest error", "three hops",
		"a good map with deleted rows",
		"a good map with retained columns", "a composite key", "a rival path",
	} {
		if seen[what] < draws/20 {
			t.Errorf("%s was drawn %d times of %d", what, seen[what], draws)
		}
	}
	t.Logf("drawn: %v", seen)
}
