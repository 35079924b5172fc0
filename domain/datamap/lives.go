package datamap

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// LifeEvidence returns the evidence of a row in the subject's table. The parameter addedAt is the creation time of the
// row (Table.AddedAt), or zero. The parameter values holds those of its Table.Identifying columns, see Table.IsErased.
func (m DataMap) LifeEvidence(addedAt time.Time, values []any) domain.LifeEvidence {
	subject := m.SubjectTable()
	return domain.LifeEvidence{
		Present: true, AddedAt: addedAt, Deletes: m.RowsDeleted(subject, Path{}), Erased: subject.IsErased(values),
		Blank: subject.IsBlank(values),
	}
}
