package scaffold_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// The foreign keys prove that a row and the row that it refers to are of the same person.
func TestReferencesThatMeetInTheKeyOfThePersonAreOfOnePerson(t *testing.T) {
	for name, lines := range map[string]string{
		"a composite reference": `
			keyrings: id*, user_id>users, color
			ring_entries: id*, user_id>users, keyring_id>keyrings/user_id, at:time`,
		"a reference by the column of the person": `
			keyrings: id*>users, color
			ring_entries: id*, user_id>users, at:time`,
		"a key of both columns": `
			keyrings: user_id*>users, id*, color
			ring_entries: user_id*>users, keyring_id*>keyrings/user_id, at:time`,
		"a secret of both columns": `
			keyrings: id*, user_id>users, color
			ring_keys: id*, user_id>users, keyring_id>keyrings/user_id, secret`,
		"a chain of composite references": `
			handles: id*, user_id>users, color
			keyrings: id*, user_id, handle_id>handles/user_id, color
			ring_entries: id*, user_id>users, keyring_id>keyrings/user_id, at:time`,
	} {
		t.Run(name, func(t *testing.T) {
			catalog := schema(users + lines)
			if entries := &catalog.Tables[2]; name == "a reference by the column of the person" {
				entries.ForeignKeys = append(entries.ForeignKeys, datamap.CatalogForeignKey{
					Columns: []string{"user_id"}, References: "keyrings", Referenced: []string{"id"},
				})
			}
			p := propose(t, catalog)
			for _, table := range catalog.Tables[len(catalog.Tables)-2:] {
				if mapped, ok := p.dataMap.Table(table.Name); !ok || !mapped.Owned {
					t.Errorf("%s stays: %v", table.Name, p.LeftOut)
				}
				if asked := p.questionsAbout(table.Name, "always belong to the same person"); len(asked) > 0 {
					t.Errorf("asked %v", asked)
				}
			}
		})
	}
}

// Nothing proves that the rows are of the same person.
func TestReferencesThatDoNotMeetMayBeOfTwoPeople(t *testing.T) {
	for _, entry := range []string{
		"ring_entries: id*, user_id>users, keyring_id>keyrings, at:time",
		"ring_entries: id*, user_id>users, owner_id, keyring_id>keyrings/owner_id, at:time",
	} {
		p := propose(t, schema(users+"keyrings: id*, user_id>users, owner_id, color\n"+entry))
		if mapped, ok := p.dataMap.Table("keyrings"); ok && mapped.Owned {
			t.Errorf("%s: the steps are %v", entry, p.steps())
		}
	}
}

func TestPathsThatMeetAreNoQuestion(t *testing.T) {
	for entries, want := range map[string]int{
		"cart_id>carts, list_id>lists":                          1,
		"user_id, cart_id>carts/user_id, list_id>lists":         1,
		"user_id, cart_id>carts/user_id, list_id>lists/user_id": 0,
	} {
		p := propose(t, schema(users+`
			carts: id*, user_id>users, color
			lists: id*, user_id>users, color
			entries: id*, at:time, `+entries), scaffold.Options{Include: []string{"entries"}})
		if asked := p.questionsAbout("entries", "Several relations lead to a person"); len(asked) != want {
			t.Errorf("%q: asked %v", entries, p.Decisions)
		}
	}
}

// Only a foreign key makes an erasure fail if a row of another person refers to a deleted row.
func TestTheQuestionAboutTheSamePersonSaysWhatHappensIfNot(t *testing.T) {
	for reference, want := range map[string]string{"story_id>stories": "an erasure fails.", "story_id": "lose the row"} {
		p := propose(t, schema("users: id*, email\nstories: id*, user_id>users, color\n"+
			"chapters: id*, user_id>users, size:integer, "+reference),
			scaffold.Options{Include: []string{"stories", "chapters"}})
		if asked := p.questionsAbout("chapters", want); len(asked) != 1 {
			t.Errorf("%s: asked %v", reference, p.Decisions)
		}
	}
}
