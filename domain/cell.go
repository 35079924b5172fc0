package domain

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Strategy is the action of an erasure. In an Annotation it applies to a value, in a Step to the rows of a table.
type Strategy string

// The strategies. A Step has only StrategyDelete, StrategyAnonymize or StrategyRetain.
const (
	// StrategyErase erases the value, and is the default. If the row is deleted, the value is deleted with it. Otherwise
	// StrategyErase works as StrategyAnonymize.
	StrategyErase Strategy = "erase"
	// StrategyAnonymize overwrites the value with a surrogate. The row stays.
	StrategyAnonymize Strategy = "anonymize"
	// StrategyNull sets the value to NULL. The row stays. It is refused for a column that is known to be NOT NULL.
	StrategyNull Strategy = "null"
	// StrategyRetain keeps the value because of a legal duty, which the Annotation must name (Art. 17(3) GDPR). The row
	// stays.
	StrategyRetain Strategy = "retain"
	// StrategyDelete deletes the value with its row. It is refused if the row stays. See Table.ColumnsKeepingRows.
	StrategyDelete Strategy = "delete"
)

// Valid reports whether s is one of the strategies.
func (s Strategy) Valid() bool { return slices.Contains(strategies(), s) }

func strategies() []Strategy {
	return []Strategy{StrategyErase, StrategyAnonymize, StrategyNull, StrategyRetain, StrategyDelete}
}

// keepsRow reports whether a value with the strategy keeps its row.
func (s Strategy) keepsRow() bool { return s != "" && s != StrategyErase && s != StrategyDelete }

// ofStep reports whether a step can have the strategy.
func (s Strategy) ofStep() bool {
	return s == StrategyDelete || s == StrategyAnonymize || s == StrategyRetain
}

// Export says whether an export shows a value. A value that an export does not show is still personal data: an erasure
// erases it, and a rectification may correct it.
//
// A column whose name sounds like a secret must set Export explicitly. A name sounds like a secret if a word of the
// name contains password, secret, token or recovery, or is or ends with hash, otp or key.
type Export string

// The values of Export. Empty means yes.
const (
	ExportYes Export = "yes"
	ExportNo  Export = "no" // hashes, tokens, private keys
)

func exports() []Export { return []Export{ExportYes, ExportNo} }

// Special texts of Column.Surrogate.
const (
	// EmptySurrogate makes the empty text the surrogate. An empty Column.Surrogate selects the surrogate of the type.
	EmptySurrogate = "''"
	// Placeholder, inside the constant of a text column, is replaced by 32 hexadecimal digits that differ in each cell.
	// If the column is too short, each Placeholder gets fewer digits. A constant that consists of one Placeholder only is
	// written unchanged.
	Placeholder = "{}"
)

const (
	mostDigits  = 32
	leastDigits = 8 // minimum for a placeholder, and for a text that must be unique
)

// Constant returns the constant that overwrites the value. If ok is false, the surrogate of the type overwrites the
// value. The constant may contain placeholders. See Digits.
func (c Column) Constant() (text string, ok bool) {
	if c.Surrogate == EmptySurrogate {
		return "", true
	}
	return c.Surrogate, c.Surrogate != ""
}

// Digits returns the number of hexadecimal digits that replace each Placeholder of the column's constant. It returns 0
// if the constant has no Placeholder.
func (c Column) Digits() int {
	places := strings.Count(c.Surrogate, Placeholder)
	if places == 0 || c.Type != TypeText || c.Surrogate == Placeholder {
		return 0
	}
	if c.Length == 0 {
		return mostDigits
	}
	fixed := utf8.RuneCountInString(c.Surrogate) - places*len(Placeholder)
	return max(0, min(mostDigits, (c.Length-fixed)/places))
}

// Filled returns the column's constant with each Placeholder replaced by the first Digits of digits.
func (c Column) Filled(digits string) string {
	text, _ := c.Constant()
	if n := c.Digits(); n > 0 {
		return strings.ReplaceAll(text, Placeholder, digits[:n])
	}
	return text
}

// IsFilled reports whether a text is the column's constant with its placeholders replaced by any digits.
func (c Column) IsFilled(text string) bool {
	n := c.Digits()
	before, _, _ := strings.Cut(c.Surrogate, Placeholder)
	if n == 0 || len(text) < len(before)+n {
		return false
	}
	digits := text[len(before) : len(before)+n]
	return strings.Trim(digits, "0123456789abcdef") == "" && text == c.Filled(digits)
}

// hasPlaceholder reports whether the surrogate of a text column contains a Placeholder and further text.
func (c Column) hasPlaceholder() bool {
	return c.Type == TypeText && c.Surrogate != Placeholder && strings.Contains(c.Surrogate, Placeholder)
}

// Unique reports whether the surrogates of the column differ in each cell. This holds for texts of at least 8
// characters, for UUIDs, and for constants with a Placeholder.
func (c Column) Unique() bool {
	if c.Surrogate != "" {
		return c.Digits() >= leastDigits
	}
	return c.Type == TypeUUID || c.Type == TypeText && (c.Length == 0 || c.Length >= leastDigits)
}

// NamesRowsByKey reports whether an export names the rows of the table by their primary key. It returns false if a
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
