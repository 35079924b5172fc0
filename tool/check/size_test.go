package check_test

import (
	"fmt"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/check"
)

// withoutForeignKeys returns a world with n further tables, each with references that have no foreign key.
func withoutForeignKeys(n int) *world {
	w := newWorld()
	for i := range n {
		table := datamap.Table{
			Name: fmt.Sprintf("parts%c%c", 'a'+i/26, 'a'+i%26), PrimaryKey: []string{"id"},
			Relations: []datamap.Relation{belongsTo("users", "user_id")}, Owned: true,
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "user_id", Type: datamap.TypeBigInt}},
		}
		for k := range 6 {
			table.Columns = append(table.Columns, datamap.Column{
				Name: fmt.Sprintf("thing%c_id", 'a'+k), Type: datamap.TypeBigInt,
			})
		}
		live := liveOf(table)
		live.ForeignKeys = nil
		w.tables, w.catalog.Tables = append(w.tables, table), append(w.catalog.Tables, live)
	}
	return w
}

// The work of a check may grow with the number of pairs of tables, and not with that of triples. Otherwise, a check of
// a large schema without foreign keys takes minutes.
func TestTheWorkGrowsWithThePairsOfTables(t *testing.T) {
	allocations := func(tables int) float64 {
		w := withoutForeignKeys(tables)
		dataMap, err := datamap.NewDataMap(w.tables...)
		must(t, err)
		plan, err := erasure.Planner{}.Plan(dataMap, nil)
		must(t, err)
		return testing.AllocsPerRun(1, func() {
			_, err := check.Run(t.Context(), memory.NewSchema(w.catalog), dataMap, plan, check.Options{})
			must(t, err)
		})
	}
	const most = 5 // twice the tables have four times the pairs, and eight times the triples
	if small, large := allocations(20), allocations(40); large > most*small {
		t.Errorf("%.0f allocations for 20 tables, %.0f for 40", small, large)
	}
}
