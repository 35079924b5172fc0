package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

// An application that uses foreign keys may still lack some of them.
func TestAReferenceWithoutForeignKeyIsAskedNextToForeignKeys(t *testing.T) {
	for _, column := range []string{
		"actor_user_id", "sub_user_id", "invited_user_id", "assignee_user_id", "actor_id", "author_id", "owner_id",
		"reporter_id", "assignee_id", "created_by:bigint",
	} {
		for _, keys := range []string{"visits: id*, user_id>users", "visits: id*, user_id>users/tenant_id, tenant_id"} {
			name, _, _ := strings.Cut(column, ":")
			catalog := schema("users: id*, email, tenant_id\n" + keys + "\nevents: id*, message, ip, " + column)
			p := propose(t, catalog)
			i := slices.IndexFunc(p.Decisions, func(d scaffold.Decision) bool { return d.Table == "events" })
			if _, mapped := p.dataMap.Table("events"); mapped || i < 0 || !strings.Contains(p.Decisions[i].Question, name) {
				t.Errorf("%s, %s: in the data map: %t, decisions: %v", keys, column, mapped, p.Decisions)
			}
			p = propose(t, catalog, scaffold.Options{Include: []string{"events"}})
			if events, _ := p.dataMap.Table("events"); len(events.Relations) != 1 || events.Relations[0].Columns[0] != name {
				t.Errorf("%s, %s: the included table has the relations %+v", keys, column, events.Relations)
			}
		}
	}
}

func TestASecondPersonWithoutForeignKeyIsAsked(t *testing.T) {
	for _, column := range []string{"act_user_id", "reporter_id", "actor_id"} {
		p := propose(t, schema(users+"notes: id*, user_id>users, team_id>teams, body, "+column+"\nteams: id*, name"))
		if !slices.Contains(p.asked(), "notes."+column) {
			t.Errorf("asked about %v, not about %s", p.asked(), column)
		}
	}
}

// Such a column may hold another number, for example of comments by the author.
func TestAWordForAPersonIsNoOwnerWithoutAnAnswer(t *testing.T) {
	for lines, want := range map[string]bool{
		"users: id*, email\nessays: id*, author:bigint, body":                            true,
		"users: id*, email\nessays: id*, user:bigint, body":                              true,
		"members: id*, email, password\nessays: id*, member:integer, body":               true,
		"members: id*, email, password\nessays: id*, members:integer, body":              false,
		"users: id*, email\nessays: id*, author, body":                                   false,
		"users: id*, email\nvisits: id*, user_id>users\nessays: id*, owner:bigint, body": true,
	} {
		p := propose(t, schema(lines))
		_, mapped := p.dataMap.Table("essays")
		if asked := len(p.questionsAbout("essays", "no foreign key")) == 1; mapped || asked != want {
			t.Errorf("%s: in the data map %t, asked %v", lines, mapped, p.Decisions)
		}
	}
	p := propose(t, schema("users: id*, email\nposts: id*, user_id, body, author:bigint"))
	if slices.Contains(p.steps(), "delete posts") || len(p.dataMap.Paths("posts")) != 2 {
		t.Errorf("without foreign keys, the steps are %v", p.steps())
	}
	p = propose(t, schema("users: id*, email\nposts: id*, author:bigint?, sender_id, body"))
	if slices.Contains(p.steps(), "delete posts") {
		t.Errorf("beside a sender, the steps are %v", p.steps())
	}
	p = propose(t, schema("users: id*, email\nposts: id*, author:bigint, updated_by:bigint?, body"))
	if slices.Contains(p.steps(), "delete posts") {
		t.Errorf("beside a maker, the steps are %v", p.steps())
	}
	p = propose(t, schema("members: id*, email, password\nposts: id*, member_id, body, member:bigint"))
	if len(p.dataMap.Paths("posts")) != 1 || !slices.Contains(p.asked(), "posts.member") {
		t.Errorf("without foreign keys, the steps are %v, asked %v", p.steps(), p.Decisions)
	}
	p = propose(t, schema(users+"posts: id*, user_id>users, body, author:bigint"))
	if !slices.Contains(p.asked(), "posts.author") {
		t.Errorf("beside user_id, asked %v", p.Decisions)
	}
}
