package plan

import (
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// LifeEvidence returns the evidence of a row in the subject's table. The parameter addedAt is the creation time of the
// row (AddedAt), or zero. The parameter values holds those of its Identifying columns, see IsErased.
func LifeEvidence(m datamap.DataMap, addedAt time.Time, values []any) domain.LifeEvidence {
	subject := m.SubjectTable()
	return domain.LifeEvidence{
		Present: true, AddedAt: addedAt, Deletes: m.RowsDeleted(subject, datamap.Path{}), Erased: IsErased(subject, values),
		Blank: IsBlank(subject, values),
	}
}
