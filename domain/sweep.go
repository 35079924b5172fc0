package domain

import (
	"time"
)

// SweepScope restricts a sweep to the cells that it must overwrite. A sweep overwrites retained cells of an erased
// subject after the end of their retention duty (the legal duty to keep a value). A sweep skips a cell that holds NULL.
// It also skips a cell that holds a surrogate (the value that an erasure writes), if plan.RecognizesSurrogate
// is true for its column.
type SweepScope struct {
	// DutyEndsAfter is the instant of the last erasure or sweep of the subject. A sweep uses it for columns whose
	// surrogates look like ordinary values (plan.RecognizesSurrogate is false). In these columns, a sweep
	// overwrites a cell only if the legal duty to keep it ended after DutyEndsAfter. If the duty ended earlier, the last
	// erasure or sweep has already overwritten the cell. Zero means that the duties may have changed since then: the sweep
	// overwrites all cells whose duty is over.
	DutyEndsAfter time.Time

	// OnlyErasedRows makes a sweep skip each row without a distinctive surrogate of its own (see
	// datamap.Path.Identifying), because the row may belong to a new person with the same id. It is true unless the life
	// of the id has ended.
	OnlyErasedRows bool
}

// SweepScope returns the scope of a sweep for the subject of m. The parameter life is the life of the subject's id. The
// parameter dutiesSince is datamap.Step.DutiesSince.
func (m ErasureMark) SweepScope(life Life, dutiesSince time.Time) *SweepScope {
	scope := &SweepScope{DutyEndsAfter: m.ErasedAt, OnlyErasedRows: life != LifeEnded}
	if m.SweptAt.After(m.ErasedAt) {
		scope.DutyEndsAfter = m.SweptAt
	}
	if dutiesSince.After(scope.DutyEndsAfter) {
		scope.DutyEndsAfter = time.Time{}
	}
	return scope
}

// SweepReport is the result of a sweep. A sweep overwrites retained cells of erased subjects after the end of the legal
// duty to keep them.
type SweepReport struct {
	Erased   int64            `json:"erased"`   // number of erased subjects, including skipped ones
	Subjects int64            `json:"subjects"` // number of subjects with overwritten cells
	Failed   int64            `json:"failed"`   // number of subjects whose sweep failed
	Skipped  int64            `json:"skipped"`  // number of subjects whose id does not fit the key of the subject's table
	Unclear  int64            `json:"unclear"`  // number of subjects with due cells that may be of a new person
	Rows     map[string]int64 `json:"rows"`     // number of rows with overwritten cells, by table
}

// Add adds the counts of another report to the counts of r.
func (r *SweepReport) Add(other SweepReport) {
	r.Erased, r.Subjects = r.Erased+other.Erased, r.Subjects+other.Subjects
	r.Failed, r.Skipped = r.Failed+other.Failed, r.Skipped+other.Skipped
	r.Unclear += other.Unclear
	if r.Rows == nil {
		r.Rows = map[string]int64{}
	}
	for table, rows := range other.Rows {
		r.Rows[table] += rows
	}
}
