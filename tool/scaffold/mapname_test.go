package scaffold_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestTheNameOfAMapComesFromItsTable(t *testing.T) {
	for table, want := range map[string]string{
		"employees": "employees", "hr.staff_members": "staffmembers", "Kunden2": "kunden2", "mitglieder_ü": "mitglieder",
		"members_of_the_old_association": "membersoftheoldassoc", "Ж": "other",
	} {
		if got := scaffold.MapName(table); got != want || datamap.CheckMapName("test", got) != nil {
			t.Errorf("the name for %s is %q, want %q", table, got, want)
		}
	}
}
