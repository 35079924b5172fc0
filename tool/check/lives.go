package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// checkLives reports ids that may pass to another person although nothing tells this, see domain.Life. A call of
// Registered for each new person tells it.
func (s *schema) checkLives() {
	if s.idle || s.registers {
		return
	}
	s.checkReused()
	subject := s.SubjectTable()
	switch {
	case s.tellsLives(), s.RowsDeleted(subject, datamap.Path{}) && s.hasRandomKey(subject):
	case s.mayKeepRows(subject):
		s.report("life-unknown", place{table: subject.Name},
			"An erasure keeps the row, and writes no text into it that only an erasure writes. Later, nothing tells whether the"+
				" row belongs to the erased person or to a new one, so that no sweep and no verification covers it.",
			"Anonymize a text column of the table, or call Registered for each new person.")
	default:
		s.report("life-unknown", place{table: subject.Name},
			"An erasure deletes the row, and the table has no creation time. If a row with the same key is there later, nothing"+
				" tells whether it was restored or belongs to a new person.",
			"Add a creation time (created_at), or call Registered for each new person.")
	}
}

// hasRandomKey reports whether a column of the subject's key is a UUID. No new person gets the UUID of an erased one.
func (s *schema) hasRandomKey(subject datamap.Table) bool {
	return slices.ContainsFunc(subject.SubjectKey, func(name string) bool {
		column, _ := subject.Column(name)
		return column.Type == datamap.TypeUUID
	})
}

// tellsLives reports whether a row of the subject's table can tell the life of its id (see domain.Life). If an erasure
// deletes the row, the table needs a creation time (plan.AddedAt). If the row stays, an erasure must write a
// distinctive surrogate into it (plan.Identifying). If tellsLives returns false, only Registered can tell.
func (s *schema) tellsLives() bool {
	subject := s.SubjectTable()
	if !s.RowsDeleted(subject, datamap.Path{}) {
		return len(plan.Identifying(subject)) > 0
	}
	_, added := plan.AddedAt(subject)
	return added
}

// checkReused reports a key that the database gives again. If the application deletes a row without an erasure, no mark
// separates the two people, so that not even a creation time tells them apart.
func (s *schema) checkReused() {
	subject := s.SubjectTable()
	live, ok := s.live[subject.Name]
	if !ok {
		return
	}
	for _, column := range live.Columns {
		own, ok := live.Mapped(subject, column.Name)
		if !ok || !column.Reused || !slices.Contains(subject.SubjectKey, own.Name) {
			continue
		}
		s.report("key-reused", place{table: subject.Name, column: own.Name})
	}
}
