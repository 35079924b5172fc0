package check

import (
	"context"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Coverage is the number of columns about which a person has decided.
type Coverage struct {
	Annotated int `json:"annotated"`
	Excluded  int `json:"excluded"`
	Undecided int `json:"undecided"`
	// Percent is the share of the columns that are annotated or excluded, from 0 to 100. It is 100 without columns.
	Percent float64         `json:"percent"`
	Tables  []TableCoverage `json:"tables"` // in the order of the catalog
	LeftOut []LeftOut       `json:"left_out"`
}

// TableCoverage is the coverage of one table.
type TableCoverage struct {
	Table     string   `json:"table"`
	Mapped    bool     `json:"mapped"` // the data map has the table
	Annotated int      `json:"annotated"`
	Excluded  int      `json:"excluded"`
	Undecided []string `json:"undecided"` // the columns
}

// Cover counts the columns of the live database about which a person or the schema has decided. Its parameters and
// errors are those of Run. Each column is one of these:
//
//   - annotated: the data map has an annotation for it
//   - excluded: the data map declares that it holds no personal data, it is a part of a key, a relation or a foreign
//     key, the database computes it, or a person saw it before an answer to the question about its table
//   - undecided: any other column
//
// A table that is not in the data map counts if it needs a decision. Its columns are excluded if a person has decided
// that it stays out, and undecided otherwise. Views do not count.
func Cover(
	ctx context.Context, reader ports.CatalogReader, dataMap datamap.DataMap, plan datamap.Plan, o Options,
) (Coverage, error) {
	found, result, err := run(ctx, reader, dataMap, plan, o)
	if err != nil {
		return Coverage{}, err
	}
	all := Coverage{Tables: []TableCoverage{}, Percent: 100, LeftOut: result.LeftOut}
	for _, live := range found.catalog.Tables {
		table, mapped := found.mapped[live.Name]
		if !isTable(live) || !mapped && !found.needsDecision(live) {
			continue
		}
		decision, _ := found.decisionAbout(live)
		one := TableCoverage{Table: live.Name, Mapped: mapped, Undecided: []string{}}
		for _, column := range live.Columns {
			declared, _ := live.Mapped(table, column.Name)
			isOut := !mapped && !decision.IsOpen() && (len(decision.Seen) == 0 || hasName(live, decision.Seen, column.Name))
			switch {
			case declared.Personal != nil:
				one.Annotated++
			case isOut, found.isDecided(table, live, column):
				one.Excluded++
			default:
				one.Undecided = append(one.Undecided, column.Name)
			}
		}
		all.Annotated, all.Excluded = all.Annotated+one.Annotated, all.Excluded+one.Excluded
		all.Undecided += len(one.Undecided)
		all.Tables = append(all.Tables, one)
	}
	if columns := all.Annotated + all.Excluded + all.Undecided; columns > 0 {
		all.Percent = float64(all.Annotated+all.Excluded) * 100 / float64(columns)
	}
	return all, nil
}
