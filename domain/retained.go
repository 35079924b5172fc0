package domain

import (
	"slices"
	"strings"
	"time"
)

// SweepScope restricts a sweep to the cells that it must overwrite. A sweep overwrites retained cells of an erased
// subject after the end of their retention duty (the legal duty to keep a value). A sweep skips a cell that holds NULL.
// It also skips a cell that holds a surrogate (the value that an erasure writes), if Column.RecognizesSurrogate is true
// for its column.
type SweepScope struct {
	// DutyEndsAfter is the instant of the last erasure or sweep of the subject. A sweep uses it for columns whose
	// surrogates look like ordinary values (Column.RecognizesSurrogate is false). In these columns, a sweep overwrites a
	// cell only if the legal duty to keep it ended after DutyEndsAfter. If the duty ended earlier, the last erasure or
	// sweep has already overwritten the cell. Zero means that the duties have changed since then: the sweep overwrites all
	// cells whose duty is over.
	DutyEndsAfter time.Time

	// OnlyErasedRows makes a sweep skip each row without a distinctive surrogate of its own (see Path.Identifying),
	// because the row may belong to a new person with the same id. It is true unless the life of the id has ended.
	OnlyErasedRows bool
}

// SweepScope returns the scope of a sweep for the subject of m. The parameter life is the life of the subject's id. The
// parameter dutiesSince is Step.DutiesSince.
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

// RecognizesSurrogate reports whether a surrogate of the column can be distinguished from an ordinary value. If
// Column.Surrogate is empty, it returns false for UUIDs, and for short texts whose surrogates consist only of random
// digits. It returns true for all other columns.
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

// SurrogateForm returns the form of the surrogates of a text column. A surrogate consists of fixedTexts, with random
// hexadecimal digits in each gap between two of these texts. digitsPerGap is the number of digits in one gap. For
// example, {"anon-", ""} and 32 mean "anon-" followed by 32 digits. If the surrogates do not have this form,
// digitsPerGap is 0.
func (c Column) SurrogateForm() (fixedTexts []string, digitsPerGap int) {
	switch _, constant := c.Constant(); {
	case c.Type != TypeText:
		return nil, 0
	case constant:
		return strings.Split(c.Surrogate, Placeholder), c.Digits()
	}
	prefix, digits := c.Default()
	if prefix == "" {
		return nil, 0
	}
	return []string{prefix, ""}, digits
}

// Overwritten reports whether a value of the column is NULL or looks like a surrogate. The result is certain only if
// Column.RecognizesSurrogate is true for the column. Otherwise, an ordinary value may look like a surrogate.
func (c Column) Overwritten(value any) bool {
	holds, _ := c.holdsSurrogate(value)
	return value == nil || holds
}

// Identifying returns the columns of the table that show whether an erasure has overwritten a row. An erasure
// overwrites each of these columns with a text that differs in each cell and has at least 8 random digits. Identifying
// returns nil if an erasure deletes the row.
func (t Table) Identifying() []Column {
	if t.RowsDeleted() {
		return nil
	}
	return slices.DeleteFunc(t.Personal(), func(c Column) bool {
		_, digits := c.SurrogateForm()
		return c.Personal.Strategy == StrategyRetain || c.Personal.Strategy == StrategyNull || digits < minDigits
	})
}

// Identifying returns the Identifying columns of the table that belong to the path. In a row that the path connects to
// the subject, an erasure of this subject has overwritten them.
func (p Path) Identifying(table Table) []Column {
	return slices.DeleteFunc(table.Identifying(), func(c Column) bool { return !p.Has(c) })
}

// IsErased reports whether an erasure has overwritten the row that holds the given texts. The texts are the values of
// the Identifying columns, in the same order. IsErased returns true if every text is one that an erasure writes. It
// returns false if the table has no Identifying columns.
func (t Table) IsErased(texts []string) bool {
	columns := t.Identifying()
	for i, column := range columns {
		if !column.Overwritten(texts[i]) {
			return false
		}
	}
	return len(columns) > 0
}

// SweepReport is the result of a sweep. A sweep overwrites retained cells of erased subjects after the end of the legal
// duty to keep them.
type SweepReport struct {
	Erased   int64            `json:"erased"`   // number of erased subjects that were checked
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
