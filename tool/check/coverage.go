package check

import (
	"context"
	"slices"

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
}

// TableCoverage is the coverage of one table.
type TableCoverage struct {
	Table     string   `json:"table"`
	Mapped    bool     `json:"mapped"` // the data map has the table
	Annotated int      `json:"annotated"`
	Excluded  int      `json:"excluded"`
	Undecided []string `json:"undecided"` // the columns
}

// Cover counts the columns of the live database about which the data map decides. Its parameters and errors are those
// of Run. Each column is one of these:
//
//   - annotated: the data map has an annotation for it
//   - excluded: the data map declares that it holds no personal data, or it is a part of a key or of a foreign key, or
//     the database computes it
//   - undecided: any other column
//
// A table that is not in the data map counts if Run has a finding about it. Its columns are undecided, or excluded if a
// person has accepted each of the findings. Views do not count, nor does a table that only a notice of Run
// names, or of which a person has decided that it stays out (datamap.LeftOut).
func Cover(
	ctx context.Context, reader ports.CatalogReader, dataMap datamap.DataMap, plan datamap.Plan, o Options,
) (Coverage, error) {
	found, result, err := run(ctx, reader, dataMap, plan, o)
	if err != nil {
		return Coverage{}, err
	}
	all := Coverage{Tables: []TableCoverage{}, Percent: 100}
	for _, live := range found.catalog.Tables {
		if !isTable(live) {
			continue
		}
		table, mapped := found.mapped[live.Name]
		isOpen := found.asked[live.Name] ||
			slices.ContainsFunc(result.Findings, func(f datamap.Finding) bool { return f.Table == live.Name })
		isAccepted := slices.ContainsFunc(result.Accepted, func(f AcceptedFinding) bool {
			return f.Table == live.Name
		})
		if !mapped && !isOpen && !isAccepted {
			continue
		}
		one := TableCoverage{Table: live.Name, Mapped: mapped, Undecided: []string{}}
		for _, column := range live.Columns {
			declared, _ := live.Mapped(table, column.Name)
			left, _ := found.leftOut(live.Name)
			switch {
			case declared.Personal != nil:
				one.Annotated++
			case declared.NotPersonal, column.Generated, inForeignKey(live, column.Name),
				hasName(live, live.PrimaryKey, column.Name), mapped && found.IsKey(table, declared.Name), !mapped && !isOpen,
				!mapped && left.Decided && slices.Contains(left.Columns, column.Name):
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
