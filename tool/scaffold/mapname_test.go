package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
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

const twoGroups = `
	customers: id*, first_name, last_name, email
	orders: id*, customer_id>customers, note
	staff_members: id*, first_name, last_name, email
	shifts: id*, staff_member_id>staff_members, note
	products: id*, title`

// decisionsOf returns the decisions about the rows of a table.
func decisionsOf(t *testing.T, table, subject, text string) (found []scaffold.Decision) {
	t.Helper()
	p, err := scaffold.Propose(t.Context(), memory.NewSchema(schema(text)), scaffold.Options{SubjectTable: subject})
	if err != nil {
		t.Fatal(err)
	}
	for _, decision := range p.Decisions {
		if decision.Table == table && decision.Column == "" {
			found = append(found, decision)
		}
	}
	return found
}

func TestAFurtherMapIsProposedWithItsName(t *testing.T) {
	const option = "make it the subject's table of another data map"
	asked := decisionsOf(t, "staff_members", "customers", twoGroups)
	if len(asked) != 1 || !slices.Contains(asked[0].Options, option) ||
		!strings.Contains(asked[0].Question, "its name would be staffmembers (Config.Name, --name staffmembers).") {
		t.Errorf("the decisions about staff_members are %v", asked)
	}
	const ofNone = `
		customers: id*, email
		letters: id*, email, body`
	asked = decisionsOf(t, "letters", "customers", ofNone)
	if len(asked) != 1 || !slices.Contains(asked[0].Options, "make it part of another data map") ||
		strings.Contains(asked[0].String(), "--name") {
		t.Errorf("the decisions about a table of no people are %v", asked)
	}
}

func TestTheNameOfTheChosenMapIsProposed(t *testing.T) {
	asked := decisionsOf(t, "staff_members", "staff_members", twoGroups)
	if len(asked) != 1 || !strings.Contains(asked[0].Question, "in customers.") ||
		!strings.Contains(asked[0].String(), "--name staffmembers") || asked[0].Chosen != "no" {
		t.Errorf("the decisions are %v", asked)
	}
	for name, alone := range map[string]string{
		"no other people":  `customers: id*, email`,
		"related people":   "customers: id*, email\n contacts: id*, customer_id>customers, email",
		"a table of names": "customers: id*, email\n products: id*, email",
		"nothing personal": "customers: id*, email\n employees: id*, quantity",
	} {
		if asked := decisionsOf(t, "customers", "customers", alone); len(asked) > 0 {
			t.Errorf("%s: the decisions are %v", name, asked)
		}
	}
}

func TestSeveralGroupsOfPeopleNeedNames(t *testing.T) {
	_, err := scaffold.Propose(t.Context(), memory.NewSchema(schema(twoGroups)), scaffold.Options{})
	if err == nil || !strings.Contains(err.Error(), "Config.Name, --name") {
		t.Errorf("the error is %v", err)
	}
}
