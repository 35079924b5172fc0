package scaffold_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

// The one who grants access owns the grant, and the other one may not be known yet.
func TestThePersonWhoGaveARowIsAskedAbout(t *testing.T) {
	for columns, giver := range map[string]string{
		"grantor_id>users, grantee_id?>users, email, code":         "grantor_id",
		"grantor_id?>users, grantee_id?>users, email, code":        "grantor_id",
		"granter_id>users, grantee_id?>users=cascade, email, code": "granter_id",
		"creator_id>users, assignee_id?>users, email, code":        "creator_id",
		"updated_by:bigint>users, assignee_id?>users, email, code": "",
		"creator_id>users, user_id>users, email, code":             "",
		"creator_id?>users, user_id?>users, email, code":           "",
	} {
		lines := users + "accesses: id*, " + columns
		p := propose(t, schema(lines))
		asked := p.questionsAbout("accesses", "Its rows lead to a person by")
		if _, isMapped := p.dataMap.Table("accesses"); isMapped {
			asked = p.questionsAbout("accesses", "An erasure of the person of this column")
			if giver == "" && len(asked) > 0 || giver != "" && (len(asked) != 1 || asked[0].Column != giver) {
				t.Errorf("%s is mapped: asked %v", columns, p.Decisions)
			}
		} else if len(asked) != 1 || giver != "" && !strings.Contains(asked[0].Question, ", and by "+giver) ||
			giver == "" && strings.Contains(asked[0].Question, ", and by ") {
			t.Errorf("%s: asked %v", columns, p.Decisions)
		}
		p = propose(t, schema(lines), scaffold.Options{Include: []string{"accesses"}})
		asked = p.questionsAbout("accesses", "An erasure of the person of this column")
		if giver == "" && len(asked) > 0 || giver != "" && (len(asked) != 1 || asked[0].Column != giver) {
			t.Errorf("%s is included: asked %v", columns, p.Decisions)
		}
	}
}
