package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

// In an application with a console of its own, user_id in console_sessions means a user of the console.
func TestAReferenceWithANearerTableIsAsked(t *testing.T) {
	for name, tables := range map[string]string{
		"console_sessions": "console_users: id*, username\nconsole_sessions: id*, user_id, reason",
		"admin_sessions":   "admin_users: id*, username\nadmin_sessions: id*, user_id, ip_address",
		"staff_tokens":     "staff: id*, username\nstaff_tokens: id*, user_id, token",
		"staff_keys":       "staff_users: id*, username\nstaff_keys: id*, user_id, token",
		"adminSessions":    "adminUsers: id*, username\nadminSessions: id*, userId:bigint, ip_address",
		"admin_notes":      "admin_users: id*, username\nadmin_notes: id*, author_id, body",
		"admin_messages":   "admin_users: id*, username\nadmin_messages: id*, to_user_id, body",
		"console.sessions": "console.users: id*, username\nconsole.sessions: id*, user_id, reason",
	} {
		for _, keys := range []string{"", "posts: id*, user_id!>users=cascade, body\n"} {
			p := propose(t, schema(users+keys+tables+"\nevents: id*, session_id>"+name+", body"),
				scaffold.Options{SubjectTable: "users"})
			for _, table := range []string{name, "events"} {
				if _, ok := p.dataMap.Table(table); ok {
					t.Errorf("%s, %q: the data map has %s", name, keys, table)
				}
			}
			isAbout := func(d scaffold.Decision) bool {
				return d.Table == name && strings.Contains(d.Question, "may refer to")
			}
			if name != "console.sessions" && !slices.ContainsFunc(p.Decisions, isAbout) {
				t.Errorf("%s, %q: asked %v", name, keys, p.Decisions)
			}
		}
	}
}

func TestAReferenceWithoutANearerTableIsFollowed(t *testing.T) {
	for name, tables := range map[string]string{
		"user_sessions":    "user_sessions: id*, user_id, ip_address",
		"console_sessions": "console_users: id:uuid*, username\nconsole_sessions: id*, user_id, ip_address",
		"project_comments": "project_users: id*, project_id, user_id\nproject_comments: id*, user_id, body",
		"staff_tokens":     "staff: id*, username\nstaff_tokens: id*, staff_id, user_id, token",
		"admin_tokens":     "admin_users: id*, username\nadmin_tokens: id*, user_id!>users=cascade, token",
		"account_tokens":   "accounts: id*, name\naccount_tokens: id*, user_id, token, account_id",
	} {
		p := propose(t, schema(users+tables), scaffold.Options{SubjectTable: "users"})
		if slices.ContainsFunc(p.LeftOut, func(l scaffold.LeftOut) bool {
			return l.Table == name && !strings.HasPrefix(l.Reason, "It leads to users.")
		}) {
			t.Errorf("%s: %v", name, p.LeftOut)
		}
	}
	p := propose(t, schema("auth.users: id*, name\nusers: id*, email\nauth.sessions: id*, user_id, ip_address\n"+
		"sessions: id*, user_id, ip_address"), scaffold.Options{SubjectTable: "users"})
	if _, ok := p.dataMap.Table("auth.sessions"); ok {
		t.Errorf("the data map has the sessions of another schema")
	}
	if _, ok := p.dataMap.Table("sessions"); !ok {
		t.Errorf("the data map does not have the sessions")
	}
}
