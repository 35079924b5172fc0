package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// allLeftOut returns the tables that a draft left out with a question, which is in the note of the table, or in the
// note of the subject's table: see datamap.LeftOutIn. A table is decided if all questions about it are answered.
func (s *schema) allLeftOut() []datamap.LeftOut {
	all := slices.Clone(s.LeftOut())
	for _, asked := range datamap.LeftOutIn(s.SubjectTable().Note) {
		live, exists := s.catalog.Table(asked.Table)
		if _, mapped := s.mapped[live.Name]; !exists || mapped {
			continue
		}
		i := slices.IndexFunc(all, func(t datamap.LeftOut) bool { return live.IsCalled(t.Table) })
		if i < 0 {
			asked.Table = live.Name
			all = append(all, asked)
			continue
		}
		all[i].Decided = all[i].Decided && asked.Decided
		if all[i].Note != "" && !strings.Contains(all[i].Note, asked.Note) {
			all[i].Note += " " + asked.Note
		}
	}
	return all
}

// checkLeftOut reports columns that are new in a table of which a person has decided that it stays out of the data map.
// The decision is about the columns that the table had then.
func (s *schema) checkLeftOut() {
	for _, left := range s.left {
		live, exists := s.catalog.Table(left.Table)
		if !exists || !left.Decided || left.Columns == nil {
			continue
		}
		var added []string
		for _, column := range live.Columns {
			if !column.Generated && !hasName(live, left.Columns, column.Name) {
				added = append(added, column.Name)
			}
		}
		if len(added) > 0 {
			s.report(leftOutChanged, place{table: live.Name, column: list(added)},
				"A person has decided that the table stays out of the data map, but these columns are new. Exports and erasures "+
					"ignore them.",
				"Run habeas scaffold with --update, and answer its question about the table. If the columns are about nobody, add "+
					"them to the columns of the table in the member schema of the manifest.")
		}
	}
}

// isDecided reports whether a person has decided that a table stays out of the data map, as it is now.
func (s *schema) isDecided(table string) bool {
	left, _ := s.leftOut(table)
	return left.Decided && !s.reported(table, leftOutChanged)
}

// isSettled reports whether isDecided does, or a person has accepted a finding about the table, and the
// acceptance has not ended.
func (s *schema) isSettled(table string) bool {
	return s.isDecided(table) || slices.ContainsFunc(s.Accepted(), func(a datamap.Acceptance) bool {
		return a.Table == table && !hasEnded(a, s.now)
	})
}
