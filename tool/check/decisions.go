package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// checkDecisions reports the questions without an answer, and the answers that need a person again: because the table
// has changed since, because the data map says something else, or because there is no reason.
func (s *schema) checkDecisions() {
	for _, d := range s.Decisions() {
		if !slices.ContainsFunc(s.catalog.Tables, d.Covers) {
			continue // the database has no such table
		}
		at := place{table: d.Object, column: list(d.Columns)}
		live, isTable := s.catalog.Table(d.Object)
		if isTable {
			at.table = s.nameOf(live)
		}
		if d.IsOpen() {
			s.report("decision-open", at, "A question has no answer: "+sentence(d.Question)+
				" Until then, the data map stays as it is.")
			continue
		}
		if !isTable {
			continue // one answer for all tables of a schema
		}
		if changed := s.changed(live, d); len(changed) > 0 {
			s.report("decision-changed", place{table: at.table, column: list(changed)},
				"A person has decided about the table (answer: "+d.Answer+"), but these columns or references are new.")
		}
		if what := s.contradiction(live, d); what != "" {
			s.report("decision-contradicted", at,
				"The answer is "+d.Answer+", but "+what+". The data map counts, not the answer.")
		}
		if words := s.unreasoned(live, d); strings.TrimSpace(d.Because) == "" && len(words) > 0 {
			s.report("decision-unreasoned", at,
				"The answer is "+d.Answer+", without a reason, but these columns are named like personal data, or lead to people: "+
					list(words)+".")
		}
	}
}

// sentence returns a text with a full stop or a question mark at its end.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// nameOf returns the name of a table in the data map, or that in the catalog.
func (s *schema) nameOf(live datamap.CatalogTable) string {
	if table, mapped := s.mapped[live.Name]; mapped {
		return table.Name
	}
	return live.Name
}

// changed returns the columns and references that are new since a decision about the rows of a table. In a table of the
// data map, a new column is undecided instead. A decision of app.Config.LeftOut has seen columns only.
func (s *schema) changed(live datamap.CatalogTable, d datamap.Decision) []string {
	if len(d.Seen) == 0 || len(d.Columns) > 0 {
		return nil
	}
	table, mapped := s.mapped[live.Name]
	seesReferences := len(d.Options) > 0
	return slices.DeleteFunc(facts.Changed(live, d.Seen), func(new string) bool {
		columns, _, isReference := strings.Cut(new, " -> ")
		if !isReference {
			return mapped
		}
		names := strings.Split(columns, ", ")
		return mapped && s.isInRelation(table, live, names) || !seesReferences && isSubset(live, names, d.Seen)
	})
}

// contradiction returns a clause that says how the data map differs from the answer to a question, or "".
func (s *schema) contradiction(live datamap.CatalogTable, d datamap.Decision) string {
	table, mapped := s.mapped[live.Name]
	if len(d.Options) == 0 {
		if mapped {
			return "the table is in the data map"
		}
		return ""
	}
	after, err := d.Apply(s.Declared(), d.Answer)
	if err != nil {
		return "the question has no such option"
	}
	i := slices.IndexFunc(after, func(t datamap.Table) bool { return live.IsCalled(t.Name) })
	switch {
	case i < 0 && mapped:
		return "the table is in the data map"
	case i < 0:
		return ""
	case !mapped:
		return "the table is not in the data map"
	case len(d.Columns) > 0:
		return differingColumns(table, after[i], d.Columns)
	case table.RowsDeleted() && !after[i].RowsDeleted():
		return "an erasure deletes the rows"
	case !table.RowsDeleted() && after[i].RowsDeleted():
		return "an erasure keeps the rows"
	}
	decided, err := datamap.NewDataMap(after...)
	if err == nil && !slices.Equal(beginsOf(s.Paths(table.Name)), beginsOf(decided.Paths(after[i].Name))) {
		return "the table has another path"
	}
	return ""
}

// beginsOf returns the first relations of paths as texts, with what an erasure does to them, in alphabetical order.
func beginsOf(paths []datamap.Path) (begins []string) {
	for _, path := range paths {
		if len(path.Relations) > 0 {
			first := path.Relations[0]
			begins = append(begins, list(first.Columns)+" -> "+first.References+" "+string(first.OnErasure))
		}
	}
	slices.Sort(begins)
	return begins
}

func differingColumns(table, decided datamap.Table, columns []string) string {
	for _, name := range columns {
		is, _ := table.Column(name)
		should, _ := decided.Column(name)
		if (is.Personal == nil) != (should.Personal == nil) || is.Always != should.Always {
			return "the data map says something else about " + name
		}
	}
	return ""
}

// unreasoned returns the columns that the dictionary knows as personal, and of which an answer says that they are not,
// or leaves them out with their table. Of a table that is left out, also the columns that seem to lead to people count.
func (s *schema) unreasoned(live datamap.CatalogTable, d datamap.Decision) (words []string) {
	option, _ := d.Option(d.Answer)
	leads := func(column string) bool {
		isNoKey := slices.ContainsFunc(s.Decisions(), func(o datamap.Decision) bool {
			return o.Covers(live) && !o.IsOpen() && hasName(live, o.Columns, column)
		})
		return d.LeavesOut(d.Answer) && !isNoKey && slices.ContainsFunc(s.facts.Links(live), func(l facts.Link) bool {
			_, isKey := dictionary.Stem(column)
			return l.Column() == column && (l.ForeignKey || isKey || dictionary.Names(column))
		})
	}
	for _, column := range live.Columns {
		isCleared := d.LeavesOut(d.Answer) || slices.ContainsFunc(option.Edit.Columns, func(c datamap.Column) bool {
			return c.NotPersonal && sameName(live, c.Name, column.Name)
		})
		if _, known := s.known(live, column); (known || leads(column.Name)) && isCleared {
			words = append(words, column.Name)
		}
	}
	return words
}

// known returns what the dictionary says about a column. It returns false for keys, and for columns that the database
// computes.
func (s *schema) known(live datamap.CatalogTable, column datamap.CatalogColumn) (dictionary.Entry, bool) {
	if column.Generated || inForeignKey(live, column.Name) || hasName(live, live.PrimaryKey, column.Name) ||
		live.IsChoice(column) {
		return dictionary.Entry{}, false
	}
	if s.facts.IsSubject(live) {
		return dictionary.Person(column.Name, column.Type)
	}
	return dictionary.Column(column.Name, column.Type)
}

// decisionAbout returns the decision about the rows of a table.
func (s *schema) decisionAbout(live datamap.CatalogTable) (datamap.Decision, bool) {
	all := s.Decisions()
	i := slices.IndexFunc(all, func(d datamap.Decision) bool { return len(d.Columns) == 0 && d.Covers(live) })
	if i < 0 {
		return datamap.Decision{}, false
	}
	return all[i], true
}
