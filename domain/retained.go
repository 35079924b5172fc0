package domain

import (
	"slices"
	"strings"
	"time"
)

// Left restricts a sweep to the cells that an erasure has left and that are to be overwritten now. If
// Column.RecognizesSurrogate is true for the column of a cell, the cell is overwritten unless it holds NULL or a
// surrogate. If it is false, the cell is overwritten unless it holds NULL or its duty was over at the instant Judged.
type Left struct {
	Judged time.Time // the instant of the last erasure or sweep, which overwrote cells whose duty was over then
	// Until is the latest start of a duty whose cells are overwritten. The zero time means any start. If the subject may
	// have been created again, Until is the instant of the erasure. A row whose duty began later may then be new.
	Until time.Time
}

// LeftBy returns the Left for a sweep of the subject of the mark. returned is true if the subject may have been created
// again, because its own row does not hold the surrogates of the erasure.
func (m ErasureMark) LeftBy(returned bool) *Left {
	left := &Left{Judged: m.ErasedAt}
	if m.SweptAt.After(m.ErasedAt) {
		left.Judged = m.SweptAt
	}
	if returned {
		left.Until = m.ErasedAt
	}
	return left
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
