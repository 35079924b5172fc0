package datamap

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
)

// Export says whether an export shows a value. An erasure erases a value even if an export does not show it, because
// the value is still personal data. A rectification may correct it.
//
// If the name of a column sounds like a secret, its annotation must set Export explicitly. A name sounds like a secret
// if one of its words contains password, secret, token or recovery, or ends with hash, otp or key. For example, api_key
// sounds like a secret.
type Export string

// The values of Export. Empty means yes.
const (
	ExportYes Export = "yes"
	ExportNo  Export = "no" // hashes, tokens, private keys
)

func exports() []Export { return []Export{ExportYes, ExportNo} }

// Special texts of Column.Surrogate.
const (
	// EmptySurrogate is the value of Column.Surrogate that makes an erasure write the empty text. If Column.Surrogate is
	// empty instead, the erasure writes the default surrogate (replacement value) of the column type.
	EmptySurrogate = "''"
	// Placeholder is the part of a text column's Surrogate that an erasure replaces by 32 random hexadecimal digits, which
	// differ in each cell. An example is "{}@erased.invalid". If the column is too short for 32 digits, each Placeholder
	// gets fewer digits. A Surrogate that consists only of Placeholder is written unchanged.
	Placeholder = "{}"
)

const (
	maxDigits = 32
	minDigits = 8 // the minimum for each Placeholder, and the minimum length of a unique text
)

// IsNulled reports whether an erasure sets the column to NULL.
func (c Column) IsNulled() bool {
	return c.Personal != nil && c.Personal.Strategy == domain.StrategyNull
}

// Constant returns the text that Column.Surrogate declares. An erasure writes this text into the column, with random
// digits in place of each Placeholder. If Column.Surrogate is empty, ok is false, and an erasure writes the default
// surrogate (replacement value) of the column type.
func (c Column) Constant() (text string, ok bool) {
	if c.Surrogate == EmptySurrogate {
		return "", true
	}
	return c.Surrogate, c.Surrogate != ""
}

// Digits returns the number of hexadecimal digits that replace each Placeholder of Column.Surrogate. It returns 0 if
// Column.Surrogate has no Placeholder.
func (c Column) Digits() int {
	places := strings.Count(c.Surrogate, Placeholder)
	if places == 0 || c.Type != TypeText || c.Surrogate == Placeholder {
		return 0
	}
	if c.Length == 0 {
		return maxDigits
	}
	fixed := utf8.RuneCountInString(c.Surrogate) - places*len(Placeholder)
	return max(0, min(maxDigits, (c.Length-fixed)/places))
}

// Default returns the form of the default surrogate of a text column: the prefix "anon-", and the number of random
// hexadecimal digits after it, at most 32. If fewer than 12 digits would fit after the prefix, the prefix is empty,
// because only the digits make the surrogate unique.
func (c Column) Default() (prefix string, digits int) {
	const anonymous, least = "anon-", 12
	switch {
	case c.Length == 0:
		return anonymous, maxDigits
	case c.Length < len(anonymous)+least:
		return "", c.Length
	default:
		return anonymous, min(maxDigits, c.Length-len(anonymous))
	}
}

// DefaultText returns a default surrogate of a text column, with the first of the given digits. There must be 32 of
// them.
func (c Column) DefaultText(digits string) string {
	prefix, n := c.Default()
	return prefix + digits[:n]
}

// Filled returns the text of Constant. The first c.Digits() characters of the parameter digits replace each
// Placeholder.
func (c Column) Filled(digits string) string {
	text, _ := c.Constant()
	if n := c.Digits(); n > 0 {
		return strings.ReplaceAll(text, Placeholder, digits[:n])
	}
	return text
}

// hasPlaceholder reports whether Column.Surrogate of a text column contains a Placeholder and further text.
func (c Column) hasPlaceholder() bool {
	return c.Type == TypeText && c.Surrogate != Placeholder && strings.Contains(c.Surrogate, Placeholder)
}

// Unique reports whether an erasure writes a different surrogate (replacement value) into each cell of the column. This
// is true in two cases:
//
//   - Column.Surrogate has a Placeholder that is replaced by at least 8 random digits.
//   - Column.Surrogate is empty, and the column is a UUID or a text of at least 8 characters.
func (c Column) Unique() bool {
	if c.Surrogate != "" {
		return c.Digits() >= minDigits
	}
	return c.Type == TypeUUID || c.Type == TypeText && (c.Length == 0 || c.Length >= minDigits)
}

// NamesRowsByKey reports whether an export identifies the rows of the table by their primary key. It returns false if a
// column of the primary key has ExportNo.
func (t Table) NamesRowsByKey() bool {
	return !slices.ContainsFunc(t.PrimaryKey, func(name string) bool {
		column, _ := t.Column(name)
		return column.Personal != nil && column.Personal.Export == ExportNo
	})
}

// Exported returns the annotated columns that an export shows, in the order of the table.
func (t Table) Exported() []Column {
	return slices.DeleteFunc(t.Personal(), func(c Column) bool { return c.Personal.Export == ExportNo })
}

// ExportedColumns returns the columns of a table that an export shows for the subject's rows. If the table has
// annotated columns, these are the columns that Table.Exported returns.
//
// For a table without annotated columns, these are the columns of the primary key, with the category technical, in two
// cases:
//
//   - The table is Owned.
//   - A path of an annotated or Owned table leads through the table, and the table is not the subject's own table.
//
// In all other cases, an export shows no column of the table.
func (m DataMap) ExportedColumns(table Table) []Column {
	if len(table.Personal()) > 0 || !m.exportsKeys(table) {
		return table.Exported()
	}
	columns := make([]Column, 0, len(table.PrimaryKey))
	for _, name := range table.PrimaryKey {
		if column, ok := table.Column(name); ok {
			column.Personal = &Annotation{Category: domain.CategoryTechnical}
			columns = append(columns, column)
		}
	}
	return columns
}

// exportsKeys reports whether an export shows the primary keys of a table that has no annotated columns. It returns
// true if the table is Owned (declared as belonging to the subject with all columns), or if the table connects other
// exported tables to the subject. Without Owned, it returns false for the table of the subjects, because the bundle
// already contains the subject id.
func (m DataMap) exportsKeys(table Table) bool {
	return table.Owned || table.Name != m.SubjectTable().Name && slices.ContainsFunc(m.Tables(), func(child Table) bool {
		return (len(child.Personal()) > 0 || child.Owned) && slices.ContainsFunc(m.Paths(child.Name), func(p Path) bool {
			return slices.ContainsFunc(p.Relations, func(r Relation) bool { return r.References == table.Name })
		})
	})
}
