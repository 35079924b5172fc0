package domain

import (
	"slices"
	"time"
)

// MaxRowsHeld is the highest value of Holding.Rows.
const MaxRowsHeld = 1001

// Holding says how many rows of a table one path (a chain of relations) connects to a subject, and what an erasure does
// with them. A row with several paths to the subject counts in the holding of each path.
type Holding struct {
	Source string `json:"source"`        // the table
	Via    string `json:"via,omitempty"` // the name of the path, see datamap.Path
	Rows   int    `json:"rows"`          // from 1 to MaxRowsHeld, which means more than 1,000
	// Fate is StrategyDelete if an erasure deletes the rows, StrategyRetain if it keeps the values in the columns of Kept,
	// and StrategyAnonymize if it only overwrites values.
	Fate Strategy `json:"fate"`
	// Kept are the columns that an erasure retains. Until.Latest is about all rows of the holding, and is zero if there
	// are more than 1,000. It is in the past if the duties are over: see At.
	Kept []RetainedField `json:"kept,omitempty"`
}

// At returns the holding as an erasure at the given instant finds it. Kept lacks the columns whose duties are over. If
// no column is left, Fate is StrategyAnonymize.
func (h Holding) At(at time.Time) Holding {
	h.Kept = slices.DeleteFunc(slices.Clone(h.Kept), func(f RetainedField) bool { return f.Until.Ended(at) })
	if h.Fate == StrategyRetain && len(h.Kept) == 0 {
		h.Fate = StrategyAnonymize
	}
	return h
}
