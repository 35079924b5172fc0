package datamap

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

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
		return c.Personal.Strategy == domain.StrategyRetain || c.Personal.Strategy == domain.StrategyNull ||
			digits < minDigits
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
