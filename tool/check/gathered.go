package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
)

// checkGathered reports texts, documents and full-text columns in rows that stay, if a trigger of their table fills
// them with personal values of another table. An erasure that overwrites these values does not fire the trigger, unless
// it changes the rows with the column later.
func (s *schema) checkGathered(table datamap.Table, live datamap.CatalogTable) {
	for _, trigger := range s.triggers[live.Name] {
		for _, set := range trigger.Sets {
			column, known := live.Mapped(table, set.Column)
			from, gathered := s.gatheredBy(table, live, trigger, set)
			if column.Personal != nil || column.NotPersonal || len(gathered) == 0 ||
				s.fires(table.Name, trigger.CatalogTrigger) && s.isWrittenAfter(table.Name, from) {
				continue
			}
			at := place{table: table.Name, column: set.Column}
			if isSearch(live, set.Column) {
				s.report(searchCopies, at,
					"The trigger "+trigger.Name+" fills the column with words of "+from+" ("+list(gathered)+
						"), but an erasure does not fire it after it has overwritten them. The column keeps the words.",
					"Fill the column again with a trigger of "+from+
						" for UPDATE, or in the hook AfterErasure and accept the finding.")
				continue
			}
			at.object = trigger.Name
			s.report(triggerCopies, at,
				"The trigger "+trigger.Name+" fills the column with values of "+from+" ("+list(gathered)+
					"), but an erasure does not fire it after it has overwritten them. The copy survives the erasure.",
				annotateRemedy(known)+", or fill the column again with a trigger of "+from+" for UPDATE and accept the finding.")
		}
	}
}

// annotateRemedy returns the remedy that annotates a column. The parameter known tells whether the data map has it.
func annotateRemedy(known bool) string {
	if known {
		return "Annotate the column"
	}
	return "Add the column to the data map, with an annotation"
}

// isWrittenAfter reports whether an erasure overwrites rows of a table after those of another one.
func (s *schema) isWrittenAfter(table, other string) bool {
	last := func(name string) int {
		at := -1
		for i, step := range s.steps {
			if step.Target == name {
				at = i
			}
		}
		return at
	}
	return last(table) > last(other)
}

// gatheredBy returns another table of the data map whose annotated texts the value of an assignment reads, and these
// texts. For a full-text column whose value has no query, the complete code of the trigger counts, because the value
// may come from a variable. It returns "" if there is none, or if a trigger of that table writes to the table of the
// trigger.
func (s *schema) gatheredBy(
	table datamap.Table, live datamap.CatalogTable, trigger trigger, set triggers.Assignment,
) (from string, columns []string) {
	found, _ := live.Column(set.Column)
	reads := func(name string) bool { return slices.Contains(set.Selects, strings.ToLower(name)) }
	switch {
	case isSearch(live, set.Column) && len(set.Selects) == 0:
		code := sqltext.TokensOf(trigger.Code, sqltext.QuotesOfPostgres)
		reads = func(name string) bool {
			return slices.ContainsFunc(code, func(t sqltext.Token) bool {
				return (t.Kind == sqltext.TokenWord || t.Kind == sqltext.TokenName) && strings.EqualFold(t.Text, name)
			})
		}
	case !isSearch(live, set.Column) && found.Type != datamap.TypeText && family(found.Type) != datamap.TypeJSON:
		return "", nil
	}
	for _, other := range s.Declared() {
		source, ok := s.live[other.Name]
		if !ok || other.Name == table.Name || !reads(source.Name[strings.LastIndexByte(source.Name, '.')+1:]) ||
			slices.ContainsFunc(source.Triggers, func(t datamap.CatalogTrigger) bool {
				return slices.Contains(t.Events, "UPDATE") && slices.Contains(t.Writes, live.Name)
			}) {
			continue
		}
		for _, column := range other.Personal() {
			if column.Type == datamap.TypeText && reads(column.Name) {
				columns = append(columns, column.Name)
			}
		}
		if len(columns) > 0 {
			return other.Name, columns
		}
	}
	return "", nil
}
