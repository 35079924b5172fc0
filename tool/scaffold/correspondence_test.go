package scaffold_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
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

func TestAMessageToManyPeopleStays(t *testing.T) {
	for line, want := range map[string]bool{
		"custom_mails: id*, user_id>users, subject, body":                         true,
		"custom_mails: id*, author_id>users=cascade, subject, body":               true,
		"custom_mails: id*, user_id>users=cascade, subject, body":                 false,
		"mails: id*, created_by:bigint>users=cascade, subject, body":              true,
		"letters: id*, user_id?>users, html":                                      true,
		"newsletters: id*, user_id>users=cascade, mail_subject, mail_text":        true,
		"announcements: id*, author_id>users, message":                            true,
		"newsletters: id*, user_id>users=cascade, is_weekly:boolean":              false,
		"newsletters: id*, user_id>users=cascade, email, html":                    false,
		"custom_mails: id*, user_id>users=cascade, recipient, subject, body":      false,
		"custom_mails: id*, user_id>users=cascade, to_id:text, subject, body":     false,
		"mails: id*, user_id>users, email, subject, body":                         false,
		"emails: id*, user_id>users, subject, body, cc, message_uid":              false,
		"posts: id*, author_id>users, subject, body":                              false,
		"mail_settings: id*, user_id>users, subject_line, body_size":              false,
		"user_mailshots: id*, user_id>users, mailshot_id>mailshots, sent_at:time": false,
	} {
		p := propose(t, schema(users+"mailshots: id*, color\n"+line))
		name, _, _ := strings.Cut(line, ":")
		_, mapped := p.dataMap.Table(name)
		if mapped == want || want && len(p.questionsAbout(name, "Are they the person's own rows?")) != 1 {
			t.Errorf("%s: in the data map %t, asked %v", line, mapped, p.Decisions)
		}
		taken := propose(t, schema(users+"mailshots: id*, color\n"+line), scaffold.Options{Include: []string{name}})
		if _, mapped := taken.dataMap.Table(name); !mapped {
			t.Errorf("%s: not included", line)
		}
	}
}
