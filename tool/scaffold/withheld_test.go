package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// wantFates checks what an erasure does with the rows of the table in each line: "deleted", "stay" or "left". A table
// that is left out has a question, and --include takes it in.
func wantFates(t *testing.T, others string, fates map[string]string) {
	t.Helper()
	for line, want := range fates {
		catalog := schema(users + others + "\n" + line)
		p := propose(t, catalog)
		name, _, _ := strings.Cut(line, ":")
		got := "left"
		if table, isMapped := p.dataMap.Table(name); isMapped && table.Owned {
			got = "deleted"
		} else if isMapped {
			got = "stay"
		}
		if got != want {
			t.Errorf("%s: the rows are %s, want %s", line, got, want)
		}
		if want != "left" {
			continue
		}
		if !slices.Contains(p.asked(), name) {
			t.Errorf("%s: asked about %v", line, p.asked())
		}
		if taken := propose(t, catalog, scaffold.Options{Include: []string{name}}); len(taken.dataMap.Paths(name)) == 0 {
			t.Errorf("%s: not included", line)
		}
	}
}

const things = "posts: id*, title\nboards: id*, size:integer\norganizations: id*, city\nroles: id*, name\n"

func TestATextAboutARowOfAnyTableIsNotDeletedWithItsAuthor(t *testing.T) {
	wantFates(t, things, map[string]string{
		"notes: id*, creator_id?>users, content":                                            "deleted",
		"notes: id*, creator_id?>users, notable_type?, notable_id?, content":                "left",
		"notes: id*, user_id>users, subject_type, subject_id, content":                      "left",
		"notes: id*, user_id>users=cascade, notable_type, notable_id, content":              "deleted",
		"notes: id*, user_id>users=cascade, notable_type, notable_id, color, size:integer":  "deleted",
		"comments: id*, user_id>users, commentable_type, commentable_id, body":              "stay",
		"saved_drafts: id*, user_id>users, draftable_type, draftable_id, content, at:time?": "deleted",
	})
}

func TestAMembershipThatSaysWhoOwnsAGroupIsNotDeleted(t *testing.T) {
	wantFates(t, things, map[string]string{
		"members: id*, user_id>users, organization_id>organizations, role, is_owner:boolean":         "left",
		"members: id*, user_id>users, organization_id>organizations, role, accepted:boolean":         "deleted",
		"members: id*, user_id>users=cascade, organization_id>organizations, role, is_owner:boolean": "left",
		"post_authors: id*, author_id>users=cascade, post_id>posts=cascade":                          "left",
		"post_readers: id*, reader_id>users=cascade, post_id>posts=cascade":                          "deleted",
		"members: id*, user_id>users, organization_id>organizations, owner_name?":                    "deleted",
	})
}

func TestANoteAboutAnotherPersonIsNotOverwritten(t *testing.T) {
	wantFates(t, things+"supporters: id*, email, name\n", map[string]string{
		"supporter_notes: id*, user_id?>users, supporter_id>supporters, content": "left",
		"post_notes: id*, user_id?>users, post_id>posts, content":                "stay",
	})
}

func TestALinkIsDeletedOnlyIfItSeemsToBeThePersons(t *testing.T) {
	wantFates(t, things, map[string]string{
		"post_features: id*, user_id>users, post_id>posts, at:time":                "left",
		"post_features: id*, user_id>users=cascade, post_id>posts, at:time":        "deleted",
		"post_boards: id*, user_id>users, post_id>posts, board_id>boards":          "left",
		"post_faves: user_id*>users, post_id*>posts, at:time":                      "deleted",
		"post_likes: user_id*>users, post_id*>posts, at:time":                      "deleted",
		"post_votes: user_id*>users, post_id*>posts, up:boolean":                   "deleted",
		"post_states: id*, user_id>users, post_id>posts, seen:boolean":             "deleted",
		"post_notices: id*, user_id>users, post_id>posts":                          "deleted",
		"board_memberships: id*, user_id>users, board_id>boards, role":             "deleted",
		"users_posts: user_id*>users, post_id*>posts":                              "deleted",
		"account_boards: id*, user_id>users, board_id>boards":                      "deleted",
		"user_topics: user_id*>users, post_id*>posts":                              "deleted",
		"voter_boards: voter_id*>users, board_id*>boards":                          "deleted",
		"mentorships: id*, mentor_id>users, mentee_id>users, at:time":              "deleted",
		"stewardships: id*, user_id>users, organization_id>organizations, at:time": "deleted",
		"hidden_boards: user_id*>users, board_id*>boards":                          "deleted",
		"editions: id*, user_id>users, mentee_id>users, post_id>posts, at:time":    "left",
		"post_readers: id*, user_id>users, post_id>posts":                          "left",
		"post_participants: id*, user_id>users, post_id>posts, at:time":            "deleted",
		"post_stats: id*, user_id>users, post_id>posts, last_viewed_at:time":       "deleted",
		"post_updates: id*, user_id>users=cascade, post_id>posts=cascade, status":  "deleted",
	})
}

func TestANoticeToAllOutlivesItsAuthor(t *testing.T) {
	wantFates(t, things, map[string]string{
		"site_notices: id*, user_id>users=cascade, title, text":                                       "left",
		"notices: id*, user_id>users=cascade, title, text, start_date:time, finish_date:time":         "left",
		"notices: id*, user_id>users=cascade, title, text, live:boolean":                              "left",
		"banners: id*, user_id>users=cascade, text, published:boolean":                                "left",
		"notices: id*, user_id>users=cascade, title, text":                                            "deleted",
		"site_notices: id*, user_id>users=cascade, title, text, read:boolean":                         "deleted",
		"site_notices: id*, recipient_id>users=cascade, text":                                         "deleted",
		"user_notices: id*, user_id>users=cascade, text, starts_at:time, ends_at:time, seen_at:time?": "deleted",
	})
}

func TestWhatAGroupRecordsOfAThingIsNotDeletedWithAMember(t *testing.T) {
	wantFates(t, things, map[string]string{
		"parking_notifications: id*, user_id?>users, post_id?>posts, organization_id?>organizations, city":         "left",
		"parking_notifications: id*, user_id?>users, post_id?>posts, organization_id?>organizations, read:boolean": "deleted",
		"parking_notifications: id*, user_id?>users, post_id?>posts, city":                                         "deleted",
		"parking_notifications: id*, user_id?>users, organization_id?>organizations, city":                         "deleted",
		"memberships: id*, user_id>users, post_id>posts, organization_id>organizations, role":                      "deleted",
		"sessions: id*, user_id>users, post_id>posts, organization_id>organizations, ip, expires_at:time":          "deleted",
		"preferences: id*, user_id>users, post_id>posts, organization_id>organizations, value":                     "deleted",
	})
}

func TestANoteOfAGroupAboutAThingIsNotOverwritten(t *testing.T) {
	catalog := schema(users + things +
		"post_reviews: id*, post_id>posts, organization_id>organizations, user_id>users, body")
	if steps := propose(t, catalog).steps(); !slices.Contains(steps, "anonymize post_reviews body") {
		t.Errorf("the steps are %v", steps)
	}
	reviews := &catalog.Tables[len(catalog.Tables)-1]
	reviews.Uniques = append(reviews.Uniques, uniqueOf("post_id", "organization_id"))
	if p := propose(t, catalog); slices.Contains(p.steps(), "anonymize post_reviews body") ||
		len(p.questionsAbout("post_reviews", "own rows?")) != 1 {
		t.Errorf("one for each post: the steps are %v, asked %v", p.steps(), p.Decisions)
	}
	reviews.Uniques = []datamap.CatalogUnique{uniqueOf("post_id", "organization_id", "user_id")}
	if steps := propose(t, catalog).steps(); !slices.Contains(steps, "anonymize post_reviews body") {
		t.Errorf("one for each person: the steps are %v", steps)
	}
	wantFates(t, things, map[string]string{
		"post_notes: id*, post_id>posts, organization_id>organizations, user_id>users, body":         "left",
		"post_notes: id*, post_id>posts, organization_id>organizations, user_id>users=cascade, body": "stay",
		"post_reviews: post_id*>posts, organization_id*>organizations, user_id>users, body":          "left",
		"post_notes: id*, post_id>posts, user_id>users, body":                                        "stay",
	})
}

func uniqueOf(columns ...string) datamap.CatalogUnique {
	return datamap.CatalogUnique{Name: strings.Join(columns, "_"), Columns: columns}
}

func TestALetterIsNotDeletedWithItsRecipient(t *testing.T) {
	p := propose(t, schema(users+things+
		"notifications: id*, sender_id?, receiver_id?, post_id?, subject?, message?, receiver_email?"))
	_, isMapped := p.dataMap.Table("notifications")
	if isMapped || len(p.questionsAbout("notifications", "own rows?")) != 1 {
		t.Errorf("the steps are %v, asked %v", p.steps(), p.Decisions)
	}
	wantFates(t, things, map[string]string{
		"notifications: id*, sender_id>users, receiver_id>users, message":                    "left",
		"notifications: id*, sender_id>users, receiver_id>users, subject, seen:boolean":      "left",
		"notifications: id*, sender_id>users, receiver_id>users, message, seen:boolean":      "deleted",
		"notifications: id*, sender_id>users, receiver_id>users, post_id>posts, color, kind": "deleted",
		"notifications: id*, receiver_id>users, subject, message":                            "deleted",
	})
}

func TestTheHistoryOfAThingOutlivesWhoMadeIt(t *testing.T) {
	wantFates(t, things, map[string]string{
		"user_post_updates: id*, user_id>users, post_id>posts, number:integer":        "left",
		"user_post_versions: id*, user_id>users, post_id>posts, number:integer":       "left",
		"user_name_updates: id*, user_id>users, number:integer":                       "deleted",
		"user_post_views: id*, user_id>users, post_id>posts, number:integer":          "deleted",
		"user_post_updates: id*, user_id>users=cascade, post_id>posts=cascade, color": "deleted",
	})
}

func TestAnAssignmentOutlivesWhoWorkedOnTheThing(t *testing.T) {
	wantFates(t, things, map[string]string{
		"post_assignments: id*, volunteer_id>users, post_id>posts, active:boolean":     "left",
		"user_assignments: id*, user_id>users, post_id>posts, at:time":                 "left",
		"user_assignments: id*, user_id>users=cascade, post_id>posts, at:time":         "deleted",
		"user_assignments: id*, user_id>users, role_id>roles, at:time":                 "deleted",
		"user_assignments: id*, user_id>users, organization_id>organizations, at:time": "deleted",
	})
}
