package plan

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// RecognizesSurrogate reports whether a surrogate of the column can be distinguished from an ordinary value. If
// Column.Surrogate is empty, it returns false for UUIDs, and for short texts whose surrogates consist only of random
// digits. It returns true for all other columns.
func RecognizesSurrogate(c datamap.Column) bool {
	if _, constant := c.Constant(); constant {
		return true
	}
	if c.Type == datamap.TypeText {
		_, digits := SurrogateForm(c)
		return digits > 0
	}
	return c.Type != datamap.TypeUUID
}

// SurrogateForm returns the form of the surrogates of a text column. A surrogate consists of fixedTexts, with random
// hexadecimal digits in each gap between two of these texts. digitsPerGap is the number of digits in one gap. For
// example, {"anon-", ""} and 32 mean "anon-" followed by 32 digits. If the surrogates do not have this form,
// digitsPerGap is 0.
func SurrogateForm(c datamap.Column) (fixedTexts []string, digitsPerGap int) {
	switch _, constant := c.Constant(); {
	case c.Type != datamap.TypeText:
		return nil, 0
	case constant:
		return strings.Split(c.Surrogate, datamap.Placeholder), c.Digits()
	}
	prefix, digits := c.Default()
	if prefix == "" {
		return nil, 0
	}
	return []string{prefix, ""}, digits
}

// Overwritten reports whether a value of the column is NULL or looks like a surrogate. The result is certain only if
// RecognizesSurrogate is true for the column. Otherwise, an ordinary value may look like a surrogate.
func Overwritten(c datamap.Column, value any) bool {
	holds, _ := holdsSurrogate(c, value)
	return value == nil || holds
}

// Identifying returns the columns of the table that show whether an erasure has overwritten a row. An erasure
// overwrites each value of these columns with a text that differs in each cell and has at least 8 random digits.
// Identifying returns nil if an erasure deletes the row.
func Identifying(t datamap.Table) []datamap.Column {
	if t.RowsDeleted() {
		return nil
	}
	return slices.DeleteFunc(t.Personal(), func(c datamap.Column) bool {
		_, digits := SurrogateForm(c)
		isKept := c.Personal.Strategy == domain.StrategyNull || c.Personal.Strategy == domain.StrategyRetain
		return isKept || digits == 0 || !c.Unique()
	})
}

// IdentifyingOn returns the Identifying columns of the table that belong to the path. In a row that the path connects
// to the subject, an erasure of this subject has overwritten them.
func IdentifyingOn(p datamap.Path, table datamap.Table) []datamap.Column {
	return slices.DeleteFunc(Identifying(table), func(c datamap.Column) bool { return !p.Has(c) })
}

// IsErased reports whether an erasure has overwritten the row that holds the given values. The values are those of the
// Identifying columns, in the same order: a string, or nil for NULL. IsErased returns true if every value is NULL or
// one that an erasure writes, and at least one is not NULL.
func IsErased(t datamap.Table, values []any) bool {
	for i, column := range Identifying(t) {
		if !Overwritten(column, values[i]) {
			return false
		}
	}
	return slices.ContainsFunc(values, func(value any) bool { return value != nil })
}

// IsBlank reports whether all Identifying columns are NULL in the row that holds the given values, see IsErased. It
// returns false if the table has no Identifying columns.
func IsBlank(t datamap.Table, values []any) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(value any) bool { return value != nil })
}

// IsFilled reports whether the text is a possible result of Filled. It returns false if Column.Surrogate has no
// Placeholder.
func IsFilled(c datamap.Column, text string) bool {
	n := c.Digits()
	before, _, _ := strings.Cut(c.Surrogate, datamap.Placeholder)
	if n == 0 || len(text) < len(before)+n {
		return false
	}
	digits := text[len(before) : len(before)+n]
	return strings.Trim(digits, "0123456789abcdef") == "" && text == c.Filled(digits)
}
