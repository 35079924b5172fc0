package domain

import (
	"slices"
	"strings"
	"time"
)

// Left narrows a sweep to the cells that an erasure has left and would overwrite now. A cell that Recognizes tells
// from a surrogate is overwritten unless it holds one, or NULL. Any other cell is overwritten if its duty was not over
// at the instant Judged.
type Left struct {
	Judged time.Time // the last instant at which the cells were overwritten whose duty was over
	// Until is the latest start of a duty whose cells are overwritten, or zero for any. It is the instant of the erasure
	// for a subject that may have come back: rows whose duty began later need not be those that the erasure left.
	Until time.Time
}

// LeftBy returns what an erasure has left of a subject for a sweep. returned says that the subject may have come back:
// its own row does not hold what the erasure wrote.
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

// Recognizes reports whether a value of the column can be told from what an erasure writes into it. It cannot if the
// column is a UUID or a short text and its surrogate has random digits only.
func (c Column) Recognizes() bool {
	if _, constant := c.Constant(); constant {
		return true
	}
	if c.Type == TypeText {
		_, digits := c.SurrogateForm()
		return digits > 0
	}
	return c.Type != TypeUUID
}

// SurrogateForm returns the form of the surrogates of a text column that differ in each cell: the fixed parts, between
// which there are digits hexadecimal digits. There are none if digits is 0.
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

// Overwritten reports whether a cell of a column that Recognizes its surrogates holds one of them, or NULL.
func (c Column) Overwritten(value any) bool {
	holds, _ := c.holdsSurrogate(value)
	return value == nil || holds
}

// Telling returns the columns of the table by which a row tells that an erasure has overwritten it: those that the
// erasure overwrites with texts that are different in each cell. There are none if the erasure deletes the row.
func (t Table) Telling() []Column {
	if t.RowsGo() {
		return nil
	}
	return slices.DeleteFunc(t.Personal(), func(c Column) bool {
		_, digits := c.SurrogateForm()
		return c.Personal.Strategy == StrategyRetain || c.Personal.Strategy == StrategyNull || digits < leastDigits
	})
}

// IsErased reports whether a row holds, in each of its Telling columns, a text that an erasure has written; the texts
// are in the order of the columns. It is false if there is no such column.
func (t Table) IsErased(texts []string) bool {
	columns := t.Telling()
	for i, column := range columns {
		if !column.Overwritten(texts[i]) {
			return false
		}
	}
	return len(columns) > 0
}

// SweepReport says what a sweep did.
type SweepReport struct {
	Erased   int64            `json:"erased"`   // the erased subjects that were looked at
	Subjects int64            `json:"subjects"` // the subjects of which something was overwritten
	Failed   int64            `json:"failed"`   // the subjects whose sweep failed
	Rows     map[string]int64 `json:"rows"`     // the rows in which something was overwritten, by table
}

// Add adds another report.
func (r *SweepReport) Add(other SweepReport) {
	r.Erased, r.Subjects, r.Failed = r.Erased+other.Erased, r.Subjects+other.Subjects, r.Failed+other.Failed
	if r.Rows == nil {
		r.Rows = map[string]int64{}
	}
	for table, rows := range other.Rows {
		r.Rows[table] += rows
	}
}
