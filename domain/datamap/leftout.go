package datamap

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// LeftOut is a table that stays out of a data map because a person has decided so. An application with models lists
// such tables in app.Config.LeftOut. A manifest has decisions instead.
type LeftOut struct {
	// Table is the name of the table, as in the catalog. "legacy.*" means all tables of the schema legacy.
	Table string
	// Columns are the columns that the person saw. A check reports the columns that the table gets later.
	Columns []string
	Because string // the reason, required
}

// Decisions returns the decisions that the tables stay out of the data map, and a problem for each mistake in them.
func Decisions(tables []LeftOut) (all []Decision, problems []domain.Problem) {
	for i, table := range tables {
		isSchema := strings.HasSuffix(table.Table, ".*")
		if !isSchema && len(table.Columns) == 0 {
			problems = append(problems, domain.Problem{
				Table: table.Table, Message: "LeftOut[" + strconv.Itoa(i) + "] has no columns",
				Remedy: "name the columns of the table",
			})
		}
		all = append(all, Decision{
			Object: table.Table, Seen: slices.Clone(table.Columns), Answer: "left-out", Because: table.Because,
		})
	}
	return all, append(problems, CheckDecisions(all)...)
}
