package domain

import (
	"slices"
	"strings"
	"time"
)

// SweepScope restricts a sweep to the retained cells of an erased subject that the sweep must overwrite. A cell that
// holds NULL is never overwritten. If Column.RecognizesSurrogate is true for the column of a cell, a cell that holds a
// surrogate is not overwritten either.
type SweepScope struct {
	// DutyEndsAfter is the instant of the last erasure or sweep of the subject. That erasure or sweep has overwritten the
	// cells whose duty was over at the instant. If Column.RecognizesSurrogate is false for the column of a cell, the cell
	// is overwritten only if its duty ends after the instant.
	DutyEndsAfter time.Time

	// DutyStartsBy excludes the cells whose duty starts after this instant. The zero time excludes no cell. It is set to
	// the instant of the erasure if the subject may have been created again, because such a cell may belong to a new row.
	DutyStartsBy time.Time
}

// SweepScope returns the scope of a sweep of the marked subject. Callers set recreated if the subject's own row does
// not hold the surrogates of the erasure, because an application may then have created the subject again.
func (m ErasureMark) SweepScope(recreated bool) *SweepScope {
	scope := &SweepScope{DutyEndsAfter: m.ErasedAt}
	if m.SweptAt.After(m.ErasedAt) {
		scope.DutyEndsAfter = m.SweptAt
	}
	if recreated {
		scope.DutyStartsBy = m.ErasedAt
	}
	return scope
}

// RecognizesSurrogate reports whether a surrogate can be distinguished from other values of the column. It cannot if
// the column is a UUID or a short text and its surrogate consists of random digits only.
func (c Column) RecognizesSurrogate() bool {
	if _, constant := c.Constant(); constant {
		return true
	}
	if c.Type == TypeText {
		_, digits := c.SurrogateForm()
		return digits > 0
	}
	return c.Type != TypeUUID
}

// SurrogateForm returns the form of the surrogates of a text column if they differ in each cell. A surrogate consists
// of the fixed parts, with digits hexadecimal digits between them. digits is 0 if the surrogates have no such form.
func (c Column) SurrogateForm() (fixed []string, digits int) {
	const prefix, least = "anon-", 12
	switch _, constant := c.Constant(); {
	case c.Type != TypeText:
		return nil, 0
	case constant:
		return strings.Split(c.Surrogate, Placeholder), c.Digits()
	case c.Length == 0:
		return []string{prefix, ""}, mostDigits
	case c.Length < len(prefix)+least:
		return nil, 0
	default:
		return []string{prefix, ""}, min(mostDigits, c.Length-len(prefix))
	}
}

// Overwritten reports whether a value of the column is NULL or a surrogate of the column. Column.RecognizesSurrogate
// must be true for the column.
func (c Column) Overwritten(value any) bool {
	holds, _ := c.holdsSurrogate(value)
	return value == nil || holds
}

// Identifying returns the columns of the table that show whether an erasure has overwritten a row. The erasure
// overwrites these columns with texts that differ in each cell. Identifying returns nil if the erasure deletes the row.
func (t Table) Identifying() []Column {
	if t.RowsDeleted() {
		return nil
	}
	return slices.DeleteFunc(t.Personal(), func(c Column) bool {
		_, digits := c.SurrogateForm()
		return c.Personal.Strategy == StrategyRetain || c.Personal.Strategy == StrategyNull || digits < leastDigits
	})
}

// IsErased reports whether every Identifying column of a row holds a text that an erasure has written. The texts are in
// the order of these columns. IsErased returns false if the table has no such column.
func (t Table) IsErased(texts []string) bool {
	columns := t.Identifying()
	for i, column := range columns {
		if !column.Overwritten(texts[i]) {
			return false
		}
	}
	return len(columns) > 0
}

// SweepReport is the result of a sweep.
type SweepReport struct {
	Erased   int64            `json:"erased"`   // number of erased subjects that were checked
	Subjects int64            `json:"subjects"` // number of subjects with overwritten cells
	Failed   int64            `json:"failed"`   // number of subjects whose sweep failed
	Rows     map[string]int64 `json:"rows"`     // number of rows with overwritten cells, by table
}

// Add adds the numbers of another report.
func (r *SweepReport) Add(other SweepReport) {
	r.Erased, r.Subjects, r.Failed = r.Erased+other.Erased, r.Subjects+other.Subjects, r.Failed+other.Failed
	if r.Rows == nil {
		r.Rows = map[string]int64{}
	}
	for table, rows := range other.Rows {
		r.Rows[table] += rows
	}
}
