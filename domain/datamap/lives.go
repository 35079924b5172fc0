package datamap

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// LifeEvidence returns the evidence of a row in the subject's table. The parameter addedAt is the creation time of the
// row (Table.AddedAt), or zero. The parameter texts holds the values of its Table.Identifying columns.
func (m DataMap) LifeEvidence(addedAt time.Time, texts []string) domain.LifeEvidence {
	subject := m.SubjectTable()
	return domain.LifeEvidence{
		Present: true, AddedAt: addedAt, Deletes: m.RowsDeleted(subject, Path{}), Erased: subject.IsErased(texts),
	}
}

// TellsLives reports whether a row of the subject's table can tell the life of its id (see Life). If an erasure deletes
// the row, the table needs a creation time (Table.AddedAt). If the row stays, an erasure must write a distinctive
// surrogate into it (Table.Identifying). If TellsLives returns false, only Registered can tell.
func (m DataMap) TellsLives() bool {
	subject := m.SubjectTable()
	if !m.RowsDeleted(subject, Path{}) {
		return len(subject.Identifying()) > 0
	}
	_, added := subject.AddedAt()
	return added
}
