package datamap_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func text(name string, strategy domain.Strategy) datamap.Column {
	c := datamap.Column{Name: name, Type: datamap.TypeText}
	if strategy != "" {
		c.Personal = &datamap.Annotation{Category: domain.CategoryContact, Strategy: strategy}
	}
	return c
}

func asked() datamap.Decision {
	notes := datamap.Table{Name: "notes", Columns: []datamap.Column{text("body", domain.StrategyAnonymize)}}
	return datamap.Decision{Object: "notes", Options: []datamap.Option{
		{Name: "overwrite", Edit: datamap.Edit{Tables: []datamap.Table{{Name: "books"}, notes}}},
		{Name: "delete", Edit: datamap.Edit{Tables: []datamap.Table{{Name: "notes", Owned: true}}}},
		{Name: "elsewhere"},
	}}
}

func listed(tables []datamap.Table) string { return strings.Join(names(tables), " ") }

func TestAnAnswerAddsReplacesOrRemovesTheTable(t *testing.T) {
	d := asked()
	users := []datamap.Table{{Name: "users"}, {Name: "books", Trusted: true}}
	after, err := d.Apply(users, "overwrite")
	if err != nil || listed(after) != "users books notes" || !after[1].Trusted || len(users) != 2 {
		t.Fatalf("got %+v, %v", after, err)
	}
	again, err := d.Apply(after, "delete")
	if err != nil || listed(again) != "users books notes" || !again[2].Owned || after[2].Owned {
		t.Errorf("another answer: %+v, %v", again, err)
	}
	gone, err := d.Apply(again, "elsewhere")
	if err != nil || listed(gone) != "users books" || listed(again) != "users books notes" {
		t.Errorf("left out: %+v, %v", gone, err)
	}
	if same, err := d.Apply(users, "elsewhere"); err != nil || listed(same) != "users books" {
		t.Errorf("left out before: %+v, %v", same, err)
	}
	_, err = d.Apply(users, "keep")
	if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), "overwrite, delete") {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerKeepsWhatPeopleHaveWritten(t *testing.T) {
	body := text("body", domain.StrategyErase)
	body.Note, body.Personal.Purpose, body.Personal.Basis = "by hand", "support", domain.BasisContract
	after, err := asked().Apply([]datamap.Table{{Name: "notes", Note: "all", Columns: []datamap.Column{body}}},
		"overwrite")
	if err != nil {
		t.Fatal(err)
	}
	c, want := after[0].Columns[0], *body.Personal
	if want.Strategy = domain.StrategyAnonymize; after[0].Note != "all" || c.Note != "by hand" || *c.Personal != want {
		t.Errorf("got %+v with %+v", after[0], c.Personal)
	}
	if edit := asked().Options[0].Edit.Tables[1]; edit.Columns[0].Personal.Purpose != "" {
		t.Error("the option has changed")
	}
}

func TestAnAnswerKeepsThatAColumnIsNotPersonal(t *testing.T) {
	d := asked()
	edited := &d.Options[0].Edit.Tables[1]
	edited.Columns = append(edited.Columns, datamap.Column{Name: "position"})
	former := datamap.Table{Name: "notes", Columns: []datamap.Column{
		{Name: "position", NotPersonal: true}, {Name: "body", NotPersonal: true},
	}}
	after, err := d.Apply([]datamap.Table{former}, "overwrite")
	if err != nil || !after[0].Columns[1].NotPersonal || after[0].Columns[0].NotPersonal {
		t.Errorf("got %+v, %v", after, err)
	}
}

func TestAnAnswerAboutColumnsReplacesThem(t *testing.T) {
	flag := datamap.Column{Name: "state", Type: datamap.TypeText, Surrogate: "gone", Always: true}
	flag.Personal = &datamap.Annotation{Category: domain.CategoryTechnical, Strategy: domain.StrategyAnonymize}
	d := datamap.Decision{Object: "users", Columns: []string{"state"}, Options: []datamap.Option{
		{Name: "always:gone", Edit: datamap.Edit{Columns: []datamap.Column{flag, text("new", "")}}},
		{Name: "not-personal", Edit: datamap.Edit{Columns: []datamap.Column{{Name: "state", NotPersonal: true}}}},
	}}
	users := datamap.Table{
		Name: "users", Columns: []datamap.Column{text("email", domain.StrategyAnonymize), text("state", "")},
	}
	after, err := d.Apply([]datamap.Table{users}, "always:gone")
	if err != nil || !reflect.DeepEqual(after[0].Columns[1], flag) || len(after[0].Columns) != 3 ||
		users.Columns[1].Always {
		t.Errorf("got %+v, %v", after, err)
	}
	users.Owned, users.Columns[0] = true, text("email", domain.StrategyErase)
	after, err = d.Apply([]datamap.Table{users}, "always:gone")
	c := after[0].Columns[1]
	if err != nil || c.Always || c.Surrogate != "" || c.Personal.Strategy != domain.StrategyErase || !flag.Always {
		t.Errorf("a row that goes needs no state: %+v, %v", c, err)
	}
	if after, err = d.Apply(nil, "not-personal"); err != nil || len(after) != 0 {
		t.Errorf("without the table: %+v, %v", after, err)
	}
	if d.LeavesOut("not-personal") || !asked().LeavesOut("elsewhere") || asked().LeavesOut("delete") ||
		asked().LeavesOut("unknown") {
		t.Error("only an answer about rows without the table leaves it out")
	}
}

func TestADecisionCoversATableOrASchema(t *testing.T) {
	table := datamap.CatalogTable{Name: "legacy.notes", Schema: "legacy"}
	for object, want := range map[string]bool{
		"legacy.notes": true, "legacy.*": true, "legac.*": false, "notes": false, "public.*": false,
	} {
		if (datamap.Decision{Object: object}).Covers(table) != want {
			t.Errorf("%s covers it: %t", object, !want)
		}
	}
}

func TestAMistakeInADecisionIsAProblem(t *testing.T) {
	for says, d := range map[string]datamap.Decision{
		"":                            {Object: "a", Answer: "map:staff", Because: "other people"},
		"has no object":               {Answer: "elsewhere", Because: "why"},
		"has no name of its own":      {Object: "a", Options: []datamap.Option{{Name: "x"}, {Name: "x"}}},
		"answer is not the name":      {Object: "a", Options: []datamap.Option{{Name: "x"}}, Answer: "y"},
		"proposed is not the name":    {Object: "a", Options: []datamap.Option{{Name: "x"}}, Proposed: "y"},
		"has no options, so it needs": {Object: "a", Answer: "elsewhere", Because: " "},
		"about the same object":       {Object: "z", Columns: []string{"b"}, Answer: "x", Because: "y"},
	} {
		first := datamap.Decision{Object: "z", Columns: []string{"b"}, Answer: "x", Because: "y"}
		problems := datamap.CheckDecisions([]datamap.Decision{first, d})
		if isFine := len(problems) == 0; isFine != (says == "") || !isFine && !strings.Contains(problems[0].Message, says) {
			t.Errorf("%s: got %v", says, problems)
		}
	}
	if len(datamap.CheckDecisions([]datamap.Decision{{Object: "a", Options: []datamap.Option{{Name: ""}}}})) != 1 {
		t.Error("an option needs a name")
	}
	m := datamap.DataMap{}.WithDecisions(asked()).WithDecisions(datamap.Decision{Object: "b", Answer: "x"})
	if all := m.Decisions(); len(all) != 2 || !all[0].IsOpen() || all[1].IsOpen() {
		t.Errorf("got %+v", all)
	}
}
