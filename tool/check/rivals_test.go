package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// In an application with users of its console, user_id in console_visits need not mean one of the users.
func TestAReferenceWithANearerTableNeedNotBeThePersons(t *testing.T) {
	for rival, nearer := range map[string]bool{"console_users": true, "other_users": false} {
		w := newWorld()
		w.addTable("console_visits", "label")
		w.add("console_visits", "user_id", datamap.TypeBigInt)
		w.addTable(rival, "label")
		found := false
		for _, f := range w.findings(t) {
			found = found || f.Code == "table-unlinked" && f.Table == "console_visits"
		}
		if found == nearer {
			t.Errorf("%s: reported as unlinked: %v", rival, found)
		}

		w = newWorld()
		unlinked("console_visits")(w)
		w.addTable(rival, "label")
		named := false
		for _, f := range w.findings(t) {
			named = named || f.Code == "foreign-key-missing" && f.Table == "console_visits" &&
				strings.Contains(f.Remedy, "If the column refers to "+rival+", remove the relation.")
		}
		if named != nearer {
			t.Errorf("%s: the remedy names it: %v", rival, named)
		}
	}
}
