package scaffold_test

import (
	"strings"
	"testing"
)

func TestCorrespondenceIsAskedAbout(t *testing.T) {
	for columns, want := range map[string]int{
		"sent_from, sent_to, subject, body":         1,
		"from, to, body":                            1,
		"sender, recipient, body":                   1,
		"fromEmail, toEmails:json, body":            1,
		"sender, receiver_id>users, body":           1,
		"sender_id>users, recipient_id>users, body": 0,
		"sent_from, subject, body":                  0,
		"sent_to, subject, body":                    0,
		"sent_from, sent_to, color":                 0,
		"valid_from:time, valid_to:time, body":      0,
		"from_state, to_state, body":                0,
		"sent_from:boolean, sent_to:boolean, body":  0,
	} {
		for _, action := range []string{"", "=cascade"} {
			p := propose(t, schema(users+"pens: id*, title\nemails: id*, user_id>users"+action+", pen_id?>pens, "+columns))
			asked := p.questionsAbout("emails", "suggest correspondence")
			if _, isMapped := p.dataMap.Table("emails"); len(asked) != want || !isMapped && want == 1 {
				t.Errorf("%s, %q: asked %v", columns, action, p.Decisions)
			}
			emails, _ := p.dataMap.Table("emails")
			if want == 1 && strings.Contains(asked[0].Question, "deletes") != emails.Owned {
				t.Errorf("%s: the rows are deleted: %t, asked %v", columns, emails.Owned, asked)
			}
		}
	}
}
