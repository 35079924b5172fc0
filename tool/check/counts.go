package check

import (
	"context"
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Uncounted is a place whose rows a rule would count, and that were not counted: Options.Rows is missing, the time
// limit was reached, or there are no rows.
type Uncounted struct {
	Rule   string `json:"rule"`
	Table  string `json:"table"`
	Column string `json:"column"`
}

// checkRows reports what only the values of rows show: texts that refer to a person in another spelling, and starts of
// retention periods that nobody can read. It returns the places that it has not counted.
func (s *schema) checkRows(ctx context.Context, counter ports.RowCounter) (uncounted []Uncounted, err error) {
	uncounted = []Uncounted{}
	for _, q := range s.questions() {
		count := datamap.RowCount{}
		if counter != nil && err == nil {
			count, err = counter.CountRows(ctx, q.RowQuestion)
		}
		if !count.Counted || count.Rows == 0 {
			uncounted = append(uncounted, Uncounted{q.rule, q.table, q.column})
		}
		if count.Found == 0 {
			continue
		}
		reason := "The database holds " + strconv.FormatInt(count.Found, 10) + " of " + strconv.FormatInt(count.Rows, 10) +
			" rows "
		if q.rule == "relation-loose" {
			s.report(q.rule, place{table: q.table, column: q.column},
				reason+"that refer to no row of "+q.Relation.References+", and would if case and spaces at the ends did not "+
					"count. Erasures and exports of the person ignore these rows.",
				"Compare generated columns with the folded text on both sides, use the type citext, or correct the rows.")
			continue
		}
		s.report(q.rule, place{table: q.table, column: q.column},
			reason+"whose value cannot be read as an instant. Their retention period never ends, and the retained values are "+
				"never erased.", "Correct the values, such as 2026-12-31 or 2026-12-31T12:00:00Z.")
	}
	return uncounted, err
}

// question is a question about the rows of a table, and the place of the finding.
type question struct {
	datamap.RowQuestion
	rule, table, column string
}

// questions returns the questions about the rows of the data map. Only texts can refer to a row in another spelling,
// unless a foreign key compares them. Only texts can be unreadable instants.
func (s *schema) questions() (all []question) {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		add := func(rule, column string, q datamap.RowQuestion) {
			q.Table = table.Name
			if !slices.ContainsFunc(all, func(o question) bool {
				return o.rule == rule && o.table == q.Table &&
					o.column == column
			}) {
				all = append(all, question{q, rule, table.Name, column})
			}
		}
		for _, path := range s.Paths(table.Name) {
			if len(path.Relations) == 0 {
				continue
			}
			relation := path.Relations[0]
			parent := s.live[relation.References]
			isText := slices.ContainsFunc(relation.Columns, func(name string) bool {
				column, _ := live.Column(name)
				return column.Type == datamap.TypeText
			})
			isKey := slices.ContainsFunc(live.ForeignKeys, func(k datamap.CatalogForeignKey) bool {
				return s.isRelation(relation, live, k)
			}) && !s.catalog.IgnoresForeignKeys
			if isText && !isKey && hasAll(live, relation.Columns) && hasAll(parent, relation.ReferencedColumns) {
				add("relation-loose", list(relation.Columns), datamap.RowQuestion{Relation: &relation})
			}
		}
		for _, column := range table.Personal() {
			since, ok := live.Column(column.Personal.Since)
			if column.Personal.Since != "" && ok && (since.Type == datamap.TypeText || s.catalog.Untyped) {
				add("since-unreadable", column.Personal.Since, datamap.RowQuestion{Start: column.Personal.Since})
			}
		}
	})
	return all
}
