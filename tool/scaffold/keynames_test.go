package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

// Nothing but the name of a column leads to the people, so that the rows stay until a person has answered.
func TestAColumnWithTheNameOfAKeyIsAsked(t *testing.T) {
	for name, test := range map[string]struct{ lines, column string }{
		"the key": {`
			tickets: ticket_id*, login_name:text, note
			crew: login_name:text*, email`, "login_name"},
		"a key without a word for people": {`
			tickets: ticket_id*, uid, note
			crew: uid*, email`, "uid"},
		"a key with an unusual ending": {`
			tickets: ticket_id*, crewhex:text, note
			crew: crewhex:text*, email`, "crewhex"},
		"a role with the ending of the key": {`
			tickets: ticket_no:bigint*, sender_no:bigint, note
			crew: crew_no:bigint*, email`, "sender_no"},
		"user_id beside further people": {`
			tickets: ticket_id*, user_id, note
			crew: user_id*, email
			guests: guest_id*, email`, "user_id"},
		"user_id beside another login": {`
			tickets: ticket_id*, user_id, note
			crew: user_id*, email
			consoles: console_id*, password`, "user_id"},
		"user_id beside operators": {`
			tickets: ticket_id*, user_id, note
			crew: user_id*, email
			operators: id*, label`, "user_id"},
		"user_id beside other addresses": {`
			tickets: ticket_id*, user_id, note
			crew: user_id*, email
			backoffice: id*, email`, "user_id"},
		"a word for people": {`
			tickets: ticket_id*, user_id, note
			crew: id*, email`, "user_id"},
		"another word for people": {`
			tickets: ticket_id*, member_uuid:text, note
			crew: id:text*, email`, "member_uuid"},
		"uid": {`
			tickets: ticket_id*, uid:integer, note
			crew: id*, email`, "uid"},
		"the last word of the table": {`
			tickets: ticket_id*, user_id, note
			app_users: id*, email`, "user_id"},
		"a link": {`
			tickets: ticket_id*, note
			ticket_users: id*, user_id, ticket_id
			crew: id*, email`, "user_id"},
		"foreign keys": {`
			visits: id*, crew_id>crew, ip
			tickets: ticket_id*, user_id, note
			crew: id*, email`, "user_id"},
	} {
		t.Run(name, func(t *testing.T) {
			people := "crew"
			if strings.Contains(test.lines, "app_users") {
				people = "app_users"
			}
			tickets := "tickets"
			if strings.Contains(test.lines, "ticket_users") {
				tickets = "ticket_users"
			}
			p := propose(t, schema(test.lines), scaffold.Options{SubjectTable: people})
			if len(p.questionsAbout(tickets, "by "+test.column+", which has no foreign key")) != 1 {
				t.Errorf("asked %v", p.Decisions)
			}
			if _, mapped := p.dataMap.Table(tickets); mapped {
				t.Errorf("the steps are %v", p.steps())
			}
			p = propose(t, schema(test.lines), scaffold.Options{SubjectTable: people, Include: []string{tickets}})
			if _, mapped := p.dataMap.Table(tickets); !mapped {
				t.Errorf("tickets are not taken in: %v", p.steps())
			}
		})
	}
}

func TestTheOnlyKeyOfPeopleIsAReference(t *testing.T) {
	for key, people := range map[string]string{
		"user_account_id": "user_account", "user_id": "user_account", "accountId:bigint": "accounts",
	} {
		p := propose(t, schema(people+": "+key+"*, email\nsearches: search_id*, "+key+", query\n"+
			"invitations: id*, email\ncontact_requests: id*, email\nuser_profiles: profile_id*, "+key+", phone"),
			scaffold.Options{SubjectTable: people})
		if !slices.Contains(p.steps(), "delete searches") || !slices.Contains(p.asked(), "searches") {
			t.Errorf("%s: the steps are %v, asked %v", key, p.steps(), p.asked())
		}
	}
}

func TestOtherColumnsWithTheNameOfAKeyLeadToNobody(t *testing.T) {
	for line, people := range map[string]string{
		"tickets: uid*, note\nfiles: uid*, note":               "crew: uid*, email",
		"tickets: ticket_id*, code:text, note":                 "crew: code:text*, email",
		"tickets: ticket_id*, uid:text, note":                  "crew: id:text*, email",
		"tickets: ticket_id*, user_id:uuid, note":              "crew: id*, email",
		"tickets: ticket_id*, user_type, user_id, note":        "crew: id*, email",
		"tickets: ticket_id*, user_secret, user_id, note":      "crew: id*, email",
		"tickets: user_id*, note":                              "crew: id*, email",
		"tickets: ticket_id*, page_no:bigint, note":            "crew: crew_no:bigint*, email",
		"tickets: ticket_id*, page_id, note":                   "crew: id*, email",
		"tickets: ticket_id*, account_id, note":                "crew: id*, email\nvisits: id*, crew_id>crew, ip",
		"tickets: ticket_id*, user_id, note\nusers: id:uuid*":  "crew: id*, email",
		"accounts: id*, account_id, number:bigint":             "crew: id*, email",
		"tickets: ticket_id*, crew_id>crew, user_id, note":     "crew: id*, email",
		"tickets: ticket_id*, user_id>pages, note\npages: id*": "crew: id*, email",
	} {
		p := propose(t, schema(people+"\n"+line), scaffold.Options{SubjectTable: "crew"})
		for _, table := range []string{"tickets", "accounts"} {
			if len(p.questionsAbout(table, "has no foreign key. Are")) > 0 {
				t.Errorf("%s: asked %v", line, p.Decisions)
			}
		}
	}
}

// The name of the author is certain, so that user_id must not decide whose text it is.
func TestADoubtfulReferenceIsNoPathBesideAnother(t *testing.T) {
	catalog := schema("crew: id*, email\nnotes: id*, user_id, author_id, body, ip")
	p := propose(t, catalog, scaffold.Options{SubjectTable: "crew"})
	if _, mapped := p.dataMap.Table("notes"); mapped {
		t.Errorf("the steps are %v", p.steps())
	}
	p = propose(t, catalog, scaffold.Options{SubjectTable: "crew", Include: []string{"notes"}})
	paths := p.dataMap.Paths("notes")
	if len(paths) != 1 || paths[0].Relations[0].Columns[0] != "author_id" || !slices.Contains(p.asked(), "notes.user_id") {
		t.Errorf("the paths are %v, asked %v", paths, p.Decisions)
	}
}

// In a database with users of a console, user_id in sessions may mean them.
func TestAWordForPeopleWithARivalIsAsked(t *testing.T) {
	for _, keys := range []string{"", "visits: id*, crew_id>crew, ip\n"} {
		p := propose(t, schema(keys+`
			crew: id*, email
			console_users: id*, username
			sessions: id*, user_id, ip`), scaffold.Options{SubjectTable: "crew"})
		if len(p.questionsAbout("sessions", "may refer to console_users or to crew")) != 1 {
			t.Errorf("asked %v", p.Decisions)
		}
		if len(p.questionsAbout("sessions", "")) != 1 {
			t.Errorf("asked again: %v", p.Decisions)
		}
		wantNone(t, p, "delete sessions")
	}
}

func TestALinkIsNoRival(t *testing.T) {
	p := propose(t, schema(`
		app_users: id*, email
		app_room_users: id*, user_id, room_id
		sessions: id*, user_id, ip`), scaffold.Options{SubjectTable: "app_users"})
	if len(p.questionsAbout("sessions", "by user_id, which has no foreign key")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func wantNone(t *testing.T, p proposed, step string) {
	t.Helper()
	if slices.Contains(p.steps(), step) {
		t.Errorf("the steps are %v", p.steps())
	}
}

func TestATableNamedAfterThePersonMayShareHerKey(t *testing.T) {
	for line, want := range map[string]int{
		"user_avatars: id*, image:bytes": 1, "user_avatars: uuid:bigint*, avatar": 1, "member_notes: id*, size:integer": 1,
		"user_types: id*, size:integer": 0, "user_teams: id*, size:integer": 0, "avatars: id*, image:bytes": 0,
		"user_avatars: id:uuid*, image:bytes": 0, "user_avatars: image_id*, image:bytes": 0,
		"user_avatars: id*, user_id>users, image:bytes":                                  0,
		"user_avatars: id*, image:bytes\npages: id*, user_avatar_id>user_avatars":        0,
		"user_avatars: id*, image:bytes\nuser_avatar_pages: id*, parent_id>user_avatars": 0,
	} {
		p := propose(t, schema(users+line), scaffold.Options{SubjectTable: "users"})
		name, _, _ := strings.Cut(line, ":")
		if got := p.questionsAbout(name, "the key of that person"); len(got) != want {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
		if want > 0 {
			wantNone(t, p, "delete "+name)
		}
	}
	catalog := schema(users + "user_avatars: id*, image:bytes")
	catalog.Tables[1].Columns[0].Default = true
	if p := propose(t, catalog); len(p.questionsAbout("user_avatars", "the key of that person")) != 0 {
		t.Errorf("a number that the database fills in: asked %v", p.Decisions)
	}
	catalog.Untyped = true // each number of SQLite seems to be filled in
	if p := propose(t, catalog); len(p.questionsAbout("user_avatars", "the key of that person")) != 1 {
		t.Errorf("on SQLite: asked %v", p.Decisions)
	}
}

func TestRowsWithAnswersOfOthersStayWithoutForeignKeys(t *testing.T) {
	for columns, want := range map[string]string{
		"id*, user_id, parent_id?, body":                    "anonymize comments body",
		"id*, user_id, in_reply_to_id?, body":               "anonymize comments body",
		"commenthex:text*, user_id, parenthex:text, body":   "anonymize comments body",
		"comment_key:text*, user_id, parent_key:text, body": "anonymize comments body",
		"id*, user_id, parent_id:uuid?, body":               "anonymize comments body",
		"id*, user_id, page_no:bigint, body":                "delete comments",
	} {
		p := propose(t, schema(users+"comments: "+columns))
		if !slices.Contains(p.steps(), want) {
			t.Errorf("%s: the steps are %v", columns, p.steps())
		}
	}
	wantNone(t, propose(t, schema(users+"folders: id*, user_id, parent_id?, size:integer")), "anonymize folders")
}

func TestAReferenceToAnotherUniqueColumnIsFound(t *testing.T) {
	for key, column := range map[string]string{
		"uuid:uuid!": "user_uuid:uuid", "user_uid:text!": "user_uid:text", "guid:text!": "userGuid:text",
	} {
		p := propose(t, schema("users: id:bigint*, email, "+key+"\nsearches: id*, query, "+column))
		if !slices.Contains(p.steps(), "delete searches") {
			t.Errorf("%s: the steps are %v", column, p.steps())
		}
	}
	for key, column := range map[string]string{
		"uuid:uuid?!": "user_uuid:uuid", "uuid:uuid": "user_uuid:uuid", "code:text!": "user_id:text",
		"uuid:text!": "user_uuid:uuid",
	} {
		p := propose(t, schema("users: id:bigint*, email, "+key+"\nsearches: id*, query, "+column))
		wantNone(t, p, "delete searches")
	}
}

func TestASenderAndARecipientWithoutForeignKeysAreAsked(t *testing.T) {
	for columns, want := range map[string]int{
		"from_id, to_id, text": 1, "from_id, to_id, phone": 1, "from_id, to_id, size:integer": 0, "from_id, page_id, text": 0,
		"from_id:uuid, to_id:uuid, text": 0, "from_id, from_type, to_id, to_type, text": 0,
		"from_id>pages, to_id>pages, text": 0,
	} {
		p := propose(t, schema(users+"pages: id*\ndms: id*, "+columns))
		if got := p.questionsAbout("dms", "Do from_id and to_id refer to users?"); len(got) != want {
			t.Errorf("%s: asked %v", columns, p.Decisions)
		}
	}
}
