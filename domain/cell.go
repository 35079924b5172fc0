package domain

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Strategy is what an erasure does: with a value, in an Annotation, or with the rows of a table, in a Step.
type Strategy string

// The strategies. A Step has only StrategyDelete, StrategyAnonymize or StrategyRetain.
const (
	// StrategyErase erases the value, and is the default: with its row, where the row is deleted, else as
	// StrategyAnonymize.
	StrategyErase Strategy = "erase"
	// StrategyAnonymize overwrites the value by a surrogate. The row stays.
	StrategyAnonymize Strategy = "anonymize"
	// StrategyNull sets the value to NULL. The row stays. It is refused for a column that is known not to take NULL.
	StrategyNull Strategy = "null"
	// StrategyRetain keeps the value, for a duty that must be named (Art. 17(3) GDPR). The row stays.
	StrategyRetain Strategy = "retain"
	// StrategyDelete deletes the value with its row. It is refused where the row stays, see Table.KeptBy.
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

// Export says whether an export shows a value. A value that it does not show is personal data all the same: an erasure
// erases it, and a rectification may correct it.
//
// A column whose name says that it holds a secret must say one or the other: a part of its name contains password,
// secret, token or recovery, or is or ends with hash, otp or key.
type Export string

// The words of Export. Empty means yes.
const (
	ExportYes Export = "yes"
	ExportNo  Export = "no" // hashes, tokens, private keys
)

func exports() []Export { return []Export{ExportYes, ExportNo} }

// Words of Column.Surrogate.
const (
	// EmptySurrogate stands for the empty text as a surrogate. The empty Surrogate stands for that of the type.
	EmptySurrogate = "''"
	// Placeholder, inside the constant of a text column, stands for 32 hexadecimal digits that are different in each cell,
	// or for as many as the length of the column leaves room for. A constant of nothing else is taken as it is.
	Placeholder = "{}"
)

const (
	mostDigits  = 32
	leastDigits = 8 // of a placeholder, and of a text that is to be unique
)

// Constant returns the constant that overwrites the value, if there is one. Else the surrogate of the type does. The
// constant may have placeholders, see Digits.
func (c Column) Constant() (text string, ok bool) {
	if c.Surrogate == EmptySurrogate {
		return "", true
	}
	return c.Surrogate, c.Surrogate != ""
}

// Digits returns how many hexadecimal digits fill each Placeholder of the column's constant; 0 if it has none.
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

// Filled returns the column's constant with its placeholders filled with the first Digits of a cell's digits.
func (c Column) Filled(digits string) string {
	text, _ := c.Constant()
	if n := c.Digits(); n > 0 {
		return strings.ReplaceAll(text, Placeholder, digits[:n])
	}
	return text
}

// IsFilled reports whether a text is the column's constant with its placeholders filled, by whatever digits.
func (c Column) IsFilled(text string) bool {
	n := c.Digits()
	before, _, _ := strings.Cut(c.Surrogate, Placeholder)
	if n == 0 || len(text) < len(before)+n {
		return false
	}
	digits := text[len(before) : len(before)+n]
	return strings.Trim(digits, "0123456789abcdef") == "" && text == c.Filled(digits)
}

// hasPlaceholder reports whether the constant is to be filled.
func (c Column) hasPlaceholder() bool {
	return c.Type == TypeText && c.Surrogate != Placeholder && strings.Contains(c.Surrogate, Placeholder)
}

// Unique reports whether the surrogates of the column are different in each cell: those of texts of at least 8
// characters and of UUIDs, and constants with a Placeholder.
func (c Column) Unique() bool {
	if c.Surrogate != "" {
		return c.Digits() >= leastDigits
	}
	return c.Type == TypeUUID || c.Type == TypeText && (c.Length == 0 || c.Length >= leastDigits)
}

// RowsNamed reports whether an export names the rows of the table by their primary key: no column of it says ExportNo.
func (t Table) RowsNamed() bool {
	return !slices.ContainsFunc(t.PrimaryKey, func(name string) bool {
		column, _ := t.Column(name)
		return column.Personal != nil && column.Personal.Export == ExportNo
	})
}

// Exported returns the annotated columns that an export shows, in the order of the table.
func (t Table) Exported() []Column {
	return slices.DeleteFunc(t.Personal(), func(c Column) bool { return c.Personal.Export == ExportNo })
}
