package scaffold_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// The work of a draft may grow with the number of pairs of tables: for each table that is left out, Propose tries a
// draft with it. It may not grow with the number of triples, or a draft of a large schema takes minutes.
func TestTheWorkGrowsWithThePairsOfTables(t *testing.T) {
	allocations := func(tables int) float64 {
		lines := []string{"users: id*, email!, created_at:timestamptz"}
		for i := range tables {
			line := fmt.Sprintf("part%c%cs: id*, user_id?, title?", 'a'+i/26, 'a'+i%26)
			for k := range 6 {
				line += fmt.Sprintf(", part%c%c_id?", 'a'+(i+k+1)%tables/26, 'a'+(i+k+1)%tables%26)
			}
			lines = append(lines, line)
		}
		catalog := schema(strings.Join(lines, "\n"))
		return testing.AllocsPerRun(1, func() {
			if _, err := scaffold.Propose(t.Context(), memory.NewSchema(catalog), scaffold.Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	small, large := allocations(15), allocations(30)
	const most = 4 // twice the tables have four times the pairs, and eight times the triples
	if large > most*small {
		t.Errorf("%.0f allocations for 15 tables, %.0f for 30", small, large)
	}
}
