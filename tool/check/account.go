package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// checkAccount reports the columns that close an account, such as its password, its tokens and its status, if an
// erasure keeps the person's row and these columns as they are. An old cookie of the person may then still work. An
// answer to a question about such a column, open or not, is a decision of its own.
func (s *schema) checkAccount() {
	subject := s.SubjectTable()
	live, exists := s.live[subject.Name]
	if !exists || !isTable(live) || !s.mayKeepRows(subject) || len(s.writtenColumns(subject.Name)) == 0 {
		return
	}
	for _, column := range live.Columns {
		declared, _ := live.Mapped(subject, column.Name)
		isChanged := declared.Personal != nil && declared.Personal.Strategy != domain.StrategyRetain
		isAnswered := slices.ContainsFunc(s.Decisions(), func(d datamap.Decision) bool {
			return d.Covers(live) && hasName(live, d.Columns, column.Name)
		})
		if dictionary.Closes(column.Name, column.Type) == "" || isChanged || isAnswered || column.Generated ||
			inForeignKey(live, column.Name) || hasName(live, live.PrimaryKey, column.Name) {
			continue
		}
		s.report("account-open", place{table: subject.Name, column: column.Name})
	}
}
