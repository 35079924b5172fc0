package domain

import (
	"slices"
)

// Strategy is the action that an erasure takes. The Strategy of an Annotation applies to a value. The Strategy of a
// Step applies to the rows of a table.
type Strategy string

// The strategies. A Step has only StrategyDelete, StrategyAnonymize or StrategyRetain.
const (
	// StrategyErase deletes the value if the erasure deletes the row. Otherwise it works like StrategyAnonymize. It is the
	// default.
	StrategyErase Strategy = "erase"
	// StrategyAnonymize overwrites the value with a surrogate. The row stays.
	StrategyAnonymize Strategy = "anonymize"
	// StrategyNull sets the value to NULL. The row stays. It is refused for a column that is known to be NOT NULL.
	StrategyNull Strategy = "null"
	// StrategyRetain keeps the value as long as a legal duty lasts, which datamap.Annotation.Reason must name (Art. 17(3)
	// GDPR). The row stays.
	StrategyRetain Strategy = "retain"
	// StrategyDelete deletes the value with its row. It is refused if the row stays. See datamap.Table.ColumnsKeepingRows.
	StrategyDelete Strategy = "delete"
)

// Valid reports whether s is one of the strategies.
func (s Strategy) Valid() bool { return slices.Contains(Strategies(), s) }

// Strategies returns the strategies.
func Strategies() []Strategy {
	return []Strategy{StrategyErase, StrategyAnonymize, StrategyNull, StrategyRetain, StrategyDelete}
}
