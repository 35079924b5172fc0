package scaffold

import (
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// Former is the data map that Update continues.
type Former struct {
	DataMap datamap.DataMap
	// Known are the tables that the schema had when a person last decided about the data map, with their columns. The keys
	// are the names of the tables.
	Known map[string][]string
	// Plan returns the plan of an erasure, as erasure.Planner does.
	Plan func(datamap.DataMap) (datamap.Plan, error)
}

// Update adds the tables and columns of the schema that are new to a data map, and keeps everything else in it. A table
// or a column is new if it is neither in the data map nor known. A table that is known and not in the data map was left
// out by a person, and stays out. If such a table has new columns, Update asks whether it may stay out.
//
// The data map in the proposal has the same erasures as before, besides those of new tables and columns. Update does
// not annotate a new column if this would change other erasures, and then asks a person.
//
// The subject's table is that of the data map. Update returns the same errors as Propose.
func Update(ctx context.Context, reader ports.CatalogReader, former Former, options Options) (Proposal, error) {
	catalog, err := reader.Catalog(ctx)
	if err != nil {
		return Proposal{}, err
	}
	m := former.DataMap
	options.SubjectTable = m.SubjectTable().Name
	fresh, err := propose(ctx, reader, catalog, options, m)
	if err != nil {
		return Proposal{}, err
	}
	plan, err := former.Plan(m)
	if err != nil {
		return Proposal{}, err
	}
	u := &updating{Former: former, plan: plan, fresh: fresh, tables: m.Declared()}
	for _, table := range fresh.Tables {
		if _, ok := m.Table(table.Name); ok {
			u.addColumns(table)
		}
	}
	u.addTables(options.Include)
	err = refuse(options.Include, func(name string) string {
		if slices.ContainsFunc(u.refused, func(out LeftOut) bool { return out.Table == name }) {
			return "leads to a person, but not by relations that fit the data map"
		}
		return ""
	})
	if err != nil {
		return Proposal{}, err
	}
	return u.proposal(catalog).complete(), nil
}

// updating is a data map to which tables and columns are added.
type updating struct {
	Former
	plan      datamap.Plan // of the former data map
	fresh     Proposal     // a proposal for the schema, independent of the data map
	tables    []datamap.Table
	decisions []Decision
	refused   []LeftOut // tables that cannot be added
}

// addColumns adds the new columns of a table of the data map, if possible all at once. The parameter from is the table
// of the fresh proposal.
func (u *updating) addColumns(from datamap.Table) {
	i := slices.IndexFunc(u.tables, func(t datamap.Table) bool { return t.Name == from.Name })
	isOld := func(c datamap.Column) bool {
		_, ok := u.tables[i].Column(c.Name)
		return ok || slices.Contains(u.Known[from.Name], c.Name)
	}
	added := slices.DeleteFunc(slices.Clone(from.Columns), isOld)
	var all []datamap.Column
	var asked []Decision
	for _, column := range added {
		all, asked = append(all, u.adapted(from.Name, column)), append(asked, u.askedAbout(from.Name, column.Name)...)
	}
	if len(added) == 0 || u.try(i, all, asked) {
		return
	}
	for _, column := range added {
		u.addColumn(i, column)
	}
}

// addColumn adds a new column to the table with the given index.
func (u *updating) addColumn(i int, column datamap.Column) {
	table := u.tables[i].Name
	if u.try(i, []datamap.Column{u.adapted(table, column)}, u.askedAbout(table, column.Name)) {
		return
	}
	question := Decision{
		Table: table, Column: column.Name, Chosen: "leave it as it is", Options: []string{"leave it as it is", "annotate it"},
		Question: "It looks personal, but an annotation would change the fate of other columns. Must an erasure erase it?",
	}
	bare := column
	bare.Personal, bare.Surrogate = nil, ""
	if column.Personal != nil && u.try(i, []datamap.Column{bare}, []Decision{question}) {
		return
	}
	question.Chosen, question.Options = "leave it out", []string{"leave it out", "annotate it"}
	question.Question = "The column is new, but with it an erasure would not delete the rows. Does it hold personal data?"
	u.decisions = append(u.decisions, question)
}

// adapted returns the column with an annotation that suits the paths of its table in the data map.
func (u *updating) adapted(table string, column datamap.Column) datamap.Column {
	if column.Personal == nil {
		return column
	}
	annotation := *column.Personal
	paths := u.DataMap.Paths(table)
	switch _, ok := u.DataMap.PathVia(table, annotation.Via); {
	case len(paths) < 2:
		annotation.Via = ""
	case !ok:
		annotation.Via = paths[0].Via
	}
	if deletesRows(u.DataMap, table) {
		annotation.Strategy, annotation.Reason, annotation.Since, annotation.From = "", "", "", ""
		annotation.Retain = datamap.Period{}
		column.Surrogate = ""
	}
	column.Personal = &annotation
	return column
}

// deletesRows reports whether an erasure deletes rows of the table.
func deletesRows(m datamap.DataMap, name string) bool {
	table, _ := m.Table(name)
	return slices.ContainsFunc(m.Paths(name), func(p datamap.Path) bool { return m.RowsDeleted(table, p) })
}

// try adds columns to the table with the given index, with the decisions about them, if the erasures of all else stay
// the same.
func (u *updating) try(table int, columns []datamap.Column, asked []Decision) bool {
	tables := slices.Clone(u.tables)
	tables[table].Columns = slices.Concat(tables[table].Columns, columns)
	if !u.accept(tables) {
		return false
	}
	u.decisions = append(u.decisions, asked...)
	return true
}

// accept replaces the tables if they are a valid data map in which each step of an erasure does at least what it did
// before, and no table loses rows that it kept.
func (u *updating) accept(tables []datamap.Table) bool {
	m, err := datamap.NewDataMap(tables...)
	if err != nil {
		return false
	}
	plan, err := u.Plan(m)
	if err != nil {
		return false
	}
	same := func(a, b datamap.Step) bool {
		return a.Target == b.Target && a.Via == b.Via && a.Strategy == b.Strategy && a.Self == b.Self
	}
	for _, step := range plan.Steps {
		_, isOld := u.DataMap.Table(step.Target)
		if isOld && step.Strategy == domain.StrategyDelete &&
			!slices.ContainsFunc(u.plan.Steps, func(s datamap.Step) bool { return same(s, step) }) {
			return false
		}
	}
	for _, step := range u.plan.Steps {
		if !slices.ContainsFunc(plan.Steps, func(s datamap.Step) bool { return same(s, step) && hasAll(s, step.Columns) }) {
			return false
		}
	}
	u.tables = tables
	return true
}

// hasAll reports whether the step has all the columns.
func hasAll(step datamap.Step, columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(step.Columns, c) })
}

// addTables adds the new tables, and those that the caller includes. A table is added after the tables that it refers
// to.
func (u *updating) addTables(include []string) {
	var waiting []datamap.Table
	for _, table := range u.fresh.Tables {
		_, isKnown := u.Known[table.Name]
		if _, ok := u.DataMap.Table(table.Name); !ok && (!isKnown || slices.Contains(include, table.Name)) {
			waiting = append(waiting, table)
		}
	}
	for changed := true; changed; {
		changed = false
		waiting = slices.DeleteFunc(waiting, func(table datamap.Table) bool {
			added := u.accept(append(slices.Clone(u.tables), u.linked(table)))
			if added {
				u.decisions, changed = append(u.decisions, u.askedIn(table.Name)...), true
			}
			return added
		})
	}
	for _, table := range waiting {
		u.refused = append(u.refused,
			LeftOut{table.Name, "It leads to a person, but not by relations that fit the data map."})
	}
}

// linked returns the table with only those relations that lead to tables of the data map, or that begin a path.
func (u *updating) linked(table datamap.Table) datamap.Table {
	isPath := func(r datamap.Relation) bool { return r.Path || len(table.Relations) == 1 }
	table.Relations = slices.DeleteFunc(slices.Clone(table.Relations), func(r datamap.Relation) bool {
		return !isPath(r) && r.References != table.Name &&
			!slices.ContainsFunc(u.tables, func(t datamap.Table) bool { return t.Name == r.References })
	})
	return table
}

func (u *updating) askedIn(table string) []Decision {
	return slices.DeleteFunc(slices.Clone(u.fresh.Decisions), func(d Decision) bool { return d.Table != table })
}

func (u *updating) askedAbout(table, column string) []Decision {
	return slices.DeleteFunc(u.askedIn(table), func(d Decision) bool { return d.Column != column })
}

// proposal returns the result. Its decisions are only those about additions.
func (u *updating) proposal(catalog datamap.Catalog) Proposal {
	p := Proposal{
		Tables: u.tables, Candidates: u.fresh.Candidates, LeftOut: []LeftOut{},
		Decisions: append([]Decision{}, u.decisions...),
	}
	for _, table := range catalog.Tables {
		isMapped := slices.ContainsFunc(u.tables, func(t datamap.Table) bool { return table.Same(t.Name, table.Name) })
		if isMapped || table.Kind == datamap.KindView || table.Kind == datamap.KindMatView {
			continue
		}
		isTable := func(l LeftOut) bool { return l.Table == table.Name }
		all := append(slices.Clone(u.refused), u.fresh.LeftOut...)
		out := LeftOut{table.Name, "A person has left it out."}
		if i := slices.IndexFunc(all, isTable); i >= 0 {
			out = all[i]
			if _, isKnown := u.Known[table.Name]; !isKnown && i >= len(u.refused) {
				p.Decisions = append(p.Decisions, u.askedIn(table.Name)...)
			}
		}
		p.Decisions = append(p.Decisions, u.askedAgain(table)...)
		p.LeftOut = append(p.LeftOut, out)
	}
	return p
}

// askedAgain returns a question if a table that a person has left out has new columns. It returns none about tables
// that hold no data about people.
func (u *updating) askedAgain(table datamap.CatalogTable) []Decision {
	known, isKnown := u.Known[table.Name]
	if !isKnown || len(known) == 0 || names.Is(table.Name, names.Machinery) || names.Is(table.Name, names.Reference) {
		return nil
	}
	var added []string
	for _, c := range table.Columns {
		if !slices.Contains(known, c.Name) {
			added = append(added, c.Name)
		}
	}
	if len(added) == 0 {
		return nil
	}
	leave := "yes: leave it out"
	return []Decision{{
		Table: table.Name, Chosen: leave, Options: []string{leave, "no: take it into the data map"},
		Question: "The table is left out, and has new columns (" + strings.Join(added, ", ") + "). May it stay out?",
	}}
}
