package scaffold_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestWhatDoesNotBelongToThePersonIsLeftOutWithAQuestion(t *testing.T) {
	for table, lines := range map[string]string{
		// Only a row that stays leads to the person.
		"recipients": `
			documents: id*, user_id>users, team_id>teams, title
			recipients: id*, document_id>documents, name, email`,
		"project_tokens": `
			projects: id*, owner_id>users, name
			project_tokens: id*, project_id>projects, email, token`,
		// The database clears the reference to the person.
		"comments": `comments: id*, user_id?>users=set_null, body`,
		// Things outlive the person who made them.
		"webhooks":    `webhooks: id*, user_id>users, url, token`,
		"channels":    `channels: id*, creator_id>users, displayname`,
		"products":    `products: id*, user_id>users, name`,
		"teams":       `teams: id*, owner_id>users, email`,
		"companies":   `companies: id*, created_by_id>users, phone`,
		"prices":      `prices: id*, user_id>users, note`,
		"invitations": `invitations: id*, inviter_id>users, email, token`,
		"user_groups": `user_groups: id*, user_id>users, name`,
		"api_tokens": `
			api_tokens: id*, user_id>users, project_id>projects, token
			projects: id*, name`,
		"subscriptions": `
			subscriptions: id*, user_id>users, plan_id>plans, stripe_id
			plans: id*, name`,
		"message_threads": `message_threads: id*, owner_id>users, title`,
		"memberships":     `memberships: id*, user_id>users, plan, price`,
		"closures": `closures: id*, user_id?>users, ticket_id>tickets, at:time
			tickets: id*, name`,
		"verdicts": `verdicts: id*, user_id>users, ticket_id!>tickets, at:time
			tickets: id*, name`,
		"replies": `replies: id*, creator_id>users, ticket_id>tickets, at:time
			tickets: id*, name`,
		// Others wrote about the person, or the person about others.
		"pins": `
			saved_posts: id*, user_id>users, post_id
			pins: id*, moderator_id>users, saved_post_id>saved_posts, note`,
		"staff_notes":   `staff_notes: id*, user_id>users, moderator_id>users, note`,
		"contacts":      `contacts: id*, user_id>users, name, email`,
		"tickets":       `tickets: id*, assignee_id>users, body`,
		"events":        `events: id*, user_id>users, acting_user_id, ip`,
		"strikes":       `strikes: id*, user_id>users=cascade, moderator_id>users, at:time`,
		"user_bans":     `user_bans: id*, user_id>users=cascade, reason`,
		"abuse_reports": `abuse_reports: id*, reporter_id>users=cascade, reported_user_id>users=cascade, at:time`,
		// The row belongs to the team, and the person made it.
		"invoices": `
			invoices: id*, user_id?>users=cascade, team_id>teams=cascade, customer_name, created_at:time
			teams: id*, name`,
		// The place and the time zone are those of the event, and not of a device.
		"scheduled_events": `scheduled_events: id*, user_id>users, title, time_zone?, place_latitude?, status`,
		"audit_logs":       `audit_logs: id*, user_id>users, actor_id>users, ip`,
	} {
		t.Run(table, func(t *testing.T) {
			p := propose(t, schema(users+lines), scaffold.Options{SubjectTable: "users"})
			if _, ok := p.dataMap.Table(table); ok {
				t.Errorf("it is in the data map: %v", p.steps())
			}
			if !slices.Contains(p.asked(), table) {
				t.Errorf("asked about %v", p.asked())
			}
		})
	}
}

func TestWhatLeadsToThePersonIsInWithAQuestion(t *testing.T) {
	for table, lines := range map[string]string{
		"follows":       `follows: id*, follower_id>users, followee_id>users`,
		"mentions":      `mentions: id*, user_id>users, post_id>posts`,
		"memberships":   `memberships: id*, user_id>users, team_id>teams, role`,
		"teams_users":   `teams_users: id*, user_id>users, team_id>teams, secret`,
		"preferences":   `preferences: id*, user_id>users, name, value`,
		"notifications": `notifications: id*, user_id>users, post_id>posts, type`,
		"saved_posts":   `saved_posts: id*, user_id>users, post_id>posts, token`,
		"read_states":   `read_states: id*, user_id>users, post_id>posts, is_read:boolean, at:time`,
		"flags":         `flags: id*, user_id>users, color`,
		"daily_users":   `daily_users: id*, user_id>users, at:time`,
	} {
		t.Run(table, func(t *testing.T) {
			p := propose(t, schema(users+`
				teams: id*, name
				posts: id*, title
				`+lines))
			if mapped, ok := p.dataMap.Table(table); !ok || !mapped.Owned {
				t.Errorf("the steps are %v", p.steps())
			}
			if !slices.Contains(p.asked(), table) {
				t.Errorf("asked about %v", p.asked())
			}
		})
	}
}

func TestPartsOfTheOneRowOfAPersonAreAsked(t *testing.T) {
	p := propose(t, schema(users+`
		local_users: id*, user_id!>users, password_hash, invited_by_id?>local_users
		login_tokens: id*, local_user_id>local_users, token
		teams: id*, local_user_id>local_users, email
		visitors: id*, user_id>users, note
		visitor_sessions: id*, visitor_id>visitors, token`), scaffold.Options{SubjectTable: "users"})
	wantLines(t, p.steps(), `
		anonymize local_users password_hash
		anonymize users email
	`)
	for _, table := range []string{"login_tokens", "teams", "visitors"} {
		if !slices.Contains(p.asked(), table) {
			t.Errorf("not asked about %s, but about %v", table, p.asked())
		}
	}
}

func TestSecretsAndTrailsOfRowsThatStayAreLeft(t *testing.T) {
	p := propose(t, schema(users+`
		posts: id*, user_id>users, board_id>boards, body, token, meta:json, content:json
		boards: id*, name
		audit_logs: id*, actor_id>users, ip, user_agent, details, email`))
	wantLines(t, p.steps(), `
		anonymize audit_logs ip user_agent
		anonymize posts body content
		anonymize users email
	`)
	for _, column := range []string{"posts.token", "posts.meta", "audit_logs.details", "audit_logs.email"} {
		if !slices.Contains(p.asked(), column) {
			t.Errorf("not asked about %s, but about %v", column, p.asked())
		}
	}
}

func TestATableIsIncludedOnRequest(t *testing.T) {
	lines := users + `
		projects: id*, owner_id>users, name
		members: id*, project_id>projects, email
		stamps: id*, project_id>projects=cascade, color
		countries: id*, name
		pages: id*, user_id>users=cascade, color
		marks: id*, page_id>pages, creator_id>users
		views: project_id>projects, ip`
	p := propose(t, schema(lines), scaffold.Options{SubjectTable: "users", Include: []string{"members"}})
	wantLines(t, p.steps(), `
		anonymize members email
		anonymize users email
	`)
	for name, reason := range map[string]string{
		"countries": "no relation", "nothing": "not a table", "views": "no primary key",
		"pages": "rows of marks refer to them",
	} {
		_, err := scaffold.Propose(t.Context(), memory.NewSchema(schema(lines)),
			scaffold.Options{SubjectTable: "users", Include: []string{name}})
		var refused *domain.Error
		if !errors.As(err, &refused) || refused.Fields[0].Field != "include" ||
			!strings.Contains(refused.Fields[0].Message, reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnIncludedTableIsDeletedWithItsPerson(t *testing.T) {
	for lines, want := range map[string]string{
		"chats: id*, user_id>users, title":                          "delete chats",
		"chats: id*, user_id>users=cascade, title, stripe_plan":     "delete chats",
		"chats: id*, created_by:bigint>users, title":                "delete chats",
		"chats: id*, user_id?>users, title":                         "delete chats",
		"chats: id*, user_id?>users=set_null, title":                "delete chats",
		"chats: id*, user_id>users, title, editor_id>users":         "anonymize chats title",
		"chats: id*, user_id>users, title\n\t\tkeys: chat_id>chats": "anonymize chats title",
	} {
		p := propose(t, schema(users+lines), scaffold.Options{SubjectTable: "users", Include: []string{"chats"}})
		wantLines(t, p.steps(), want+`
			anonymize users email`)
		note := p.dataMap.Tables()[1].Note
		if strings.HasPrefix(want, "delete") != strings.Contains(note, "rows are deleted") {
			t.Errorf("%s: the note is %q", lines, note)
		}
	}
}

func TestTheTextOfAReviewerIsNotDeletedWithTheReviewedPerson(t *testing.T) {
	for columns, want := range map[string]bool{
		"user_id>users, reviewer_id?>users": false, "user_id, reviewer_id?": false, "user_id, deleted_by_id?": true,
	} {
		p := propose(t, schema(users+"reviews: id*, "+columns+", comment"))
		if got := slices.Contains(p.steps(), "delete reviews"); got != want {
			t.Errorf("%s: the steps are %v", columns, p.steps())
		}
	}
}
