package scaffold_test

import (
	"strings"
	"testing"
)

// A text with the name of a reference to nothing may be the id of the person in another system.
func TestAnIdOfAnotherSystemIsAsked(t *testing.T) {
	for column, want := range map[string]bool{
		"legacy_id": true, "legacy_id:text!": true, "acmeId:text": true, "external_ref": true, "legacy_id:bigint": false,
		"shop_id:text": false, "request_id:text": false, "short_id:text!": false, "author_id:text": false,
		"legacy_id:enum(a|b)": false,
	} {
		column = strings.ReplaceAll(column, "legacy_id,", "legacy_id:text,")
		if column == "legacy_id" || column == "external_ref" {
			column += ":text"
		}
		name, _, _ := strings.Cut(column, ":")
		for _, lines := range []string{
			"users: id*, email, " + column,
			users + "essays: id*, user_id>users=cascade, ip, " + column + "\nlikes: essay_id>essays, user_id>users",
		} {
			p := propose(t, schema(lines+"\nshops: id*, color"))
			asked := append(p.questionsAbout("users", "Do further texts"), p.questionsAbout("essays", "Do further texts")...)
			got := len(asked) == 1 && strings.Contains(asked[0].Question, name)
			if got != want {
				t.Errorf("%s: asked %v", lines, p.Decisions)
			}
		}
	}
}

func TestAKindBesideAnIDMeansTheSystem(t *testing.T) {
	for lines, want := range map[string]int{
		"users: id*, email, vcs_type, vcs_id:text":                                                    1,
		"users: id:text*, email, vcs_type, vcs_id:text":                                               0,
		"users: id*, email\nposts: id*, user_id>users, parent_id?>posts, body, vcs_type, vcs_id:text": 0,
	} {
		p := propose(t, schema(lines))
		if n := len(p.questionsAbout("users", "(vcs_id)")) + len(p.questionsAbout("posts", "(vcs_id)")); n != want {
			t.Errorf("%s: asked %v", lines, p.Decisions)
		}
	}
}

// The key of a session in the table of the people is that of a login. In other tables, it is a reference.
func TestASessionOfAPersonIsAsked(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email, name, session_id:text?, unique_session_id:text?
		hits: id*, user_id>users, session_id:text, size:integer`))
	if asked := p.questionsAbout("users", "session_id, unique_session_id"); len(asked) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
	if asked := p.questionsAbout("hits", "session_id"); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
}
