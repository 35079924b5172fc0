package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// checkGathered reports full-text columns in rows that stay, if a trigger of their table fills them with personal
// values of another table. An erasure that overwrites these values does not fire the trigger, unless it also changes
// the rows with the column.
func (s *schema) checkGathered(table datamap.Table, live datamap.CatalogTable) {
	for _, trigger := range s.triggers[live.Name] {
		if s.fires(table.Name, trigger.CatalogTrigger) {
			continue
		}
		for _, set := range trigger.Sets {
			column, _ := live.Mapped(table, set.Column)
			from, gathered := s.gatheredBy(table, trigger)
			if !isSearch(live, set.Column) || column.Personal != nil || column.NotPersonal || len(gathered) == 0 {
				continue
			}
			s.report(searchCopies, place{table: table.Name, column: set.Column},
				"The trigger "+trigger.Name+" fills the column with words of "+from+" ("+list(gathered)+
					"), but an erasure does not fire it. The column keeps the words of overwritten values.",
				"Fill the column again with a trigger of "+from+" for UPDATE, or in the hook AfterErasure and accept the finding.")
		}
	}
}

// gatheredBy returns another table of the data map whose annotated texts the code of a trigger reads, and these texts.
// It returns "" if there is none, or if a trigger of that table writes to the table of the first trigger.
func (s *schema) gatheredBy(table datamap.Table, trigger trigger) (from string, columns []string) {
	code := sqltext.TokensOf(trigger.Code, sqltext.QuotesOfPostgres)
	reads := func(name string) bool {
		return slices.ContainsFunc(code, func(t sqltext.Token) bool {
			return (t.Kind == sqltext.TokenWord || t.Kind == sqltext.TokenName) && strings.EqualFold(t.Text, name)
		})
	}
	for _, other := range s.Declared() {
		live, ok := s.live[other.Name]
		if !ok || other.Name == table.Name || !reads(live.Name[strings.LastIndexByte(live.Name, '.')+1:]) ||
			slices.ContainsFunc(live.Triggers, func(t datamap.CatalogTrigger) bool {
				return slices.Contains(t.Events, "UPDATE") && slices.Contains(t.Writes, s.live[table.Name].Name)
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
