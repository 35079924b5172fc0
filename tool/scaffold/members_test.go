package scaffold_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// A row about a member may belong to the group.
func TestRowsAboutAMemberOfAGroupAreAsked(t *testing.T) {
	const connects = "connect a person with rows of clubs"
	for name, test := range map[string]struct{ lines, table, question string }{
		"a membership":              {"", "memberships", "Do its rows belong only to the person?"},
		"a part, by one column":     {"badges: id*, membership_id>memberships, color", "badges", connects},
		"a part, by both columns":   {"badges: club_id*, user_id*, color", "badges", connects},
		"a part named after people": {"user_badges: club_id*, user_id*, color", "user_badges", connects},
		"beside the people": {
			"user_badges: club_id*>clubs, user_id*>users, color", "user_badges", "Do its rows belong only to the person?",
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := schema(users + "clubs: id*, title\nmemberships: id*, club_id>clubs, user_id>users, role\n" + test.lines)
			members := &catalog.Tables[2]
			members.Uniques = []datamap.CatalogUnique{{Name: "u", Columns: []string{"club_id", "user_id"}}}
			if part := &catalog.Tables[len(catalog.Tables)-1]; len(part.PrimaryKey) == 2 {
				part.ForeignKeys = append(part.ForeignKeys, datamap.CatalogForeignKey{
					Columns: part.PrimaryKey, References: "memberships", Referenced: []string{"club_id", "user_id"},
				})
			}
			p := propose(t, catalog)
			if len(p.questionsAbout("memberships", "Do its rows belong only to the person?")) != 1 ||
				len(p.questionsAbout(test.table, test.question)) != 1 {
				t.Errorf("asked %v", p.Decisions)
			}
		})
	}
}

// A part without a key keeps the membership, and nothing can take it in.
func TestAMembershipThatCannotBeTakenInIsAsked(t *testing.T) {
	p := propose(t, schema(users+`
		clubs: id*, title
		memberships: id*, club_id>clubs, user_id>users, role
		badges: membership_id>memberships, color`))
	asked := p.questionsAbout("memberships", "by user_id")
	if len(asked) != 1 || !strings.Contains(asked[0].Options[1], "BeforeErasure") {
		t.Errorf("asked %v", p.Decisions)
	}
}
