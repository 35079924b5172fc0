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
