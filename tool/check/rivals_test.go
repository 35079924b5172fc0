package check_test

import (
	"slices"
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

// In site_agent_stats, user_id may refer to site_agents, unless another column does.
func TestAReferenceBesideThatToTheRivalIsThePersons(t *testing.T) {
	for column, isClear := range map[string]bool{"agent_id": true, "size": false} {
		w := newWorld()
		unlinked("site_agent_stats")(w)
		w.addTable("site_agents", "label")
		w.add("site_agent_stats", column, datamap.TypeBigInt)
		for _, f := range w.findings(t) {
			if f.Table == "site_agent_stats" && f.Code == "foreign-key-missing" &&
				strings.Contains(f.Remedy, "site_agents, remove") == isClear {
				t.Errorf("beside %s: the remedy is %s", column, f.Remedy)
			}
		}
	}
}

// The name of the people's table may be the name of a reference.
func TestAReferenceHasTheNameOfThePeople(t *testing.T) {
	w := newWorld()
	w.table("users").Name, w.live("users").Name = "patients", "patients"
	for i := range w.tables {
		for j := range w.tables[i].Relations {
			w.tables[i].Relations[j].References = "patients"
		}
		for j := range w.catalog.Tables[i].ForeignKeys {
			w.catalog.Tables[i].ForeignKeys[j].References = "patients"
		}
	}
	w.addTable("visits")
	w.add("visits", "patient", datamap.TypeBigInt)
	if found := w.findings(t); len(found) != 1 || found[0].Where() != "visits.patient" {
		t.Errorf("found %v", found)
	}
}

// A column with a tenant leads to several people, so that a key with further columns need not lead to the same person.
func TestAKeyWithATenantNeedNotLeadToTheOwner(t *testing.T) {
	w := newWorld()
	w.addToBoth("users", datamap.Column{Name: "tenant", Type: datamap.TypeBigInt})
	w.addToBoth("orders", datamap.Column{Name: "person", Type: datamap.TypeBigInt})
	w.table("orders").Relations[0].ReferencedColumns = []string{"tenant"}
	w.live("orders").ForeignKeys = []datamap.CatalogForeignKey{{
		Name: "by", Columns: []string{"user_id", "person"}, References: "users", Referenced: []string{"tenant", "id"},
	}}
	found := w.findings(t)
	if !slices.ContainsFunc(found, func(f datamap.Finding) bool { return f.Code == "path-missing" }) {
		t.Errorf("found %v", found)
	}
}
