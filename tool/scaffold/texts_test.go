package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

// questionsAbout returns the questions about a table that contain the text.
func (p proposed) questionsAbout(table, text string) []scaffold.Decision {
	return slices.DeleteFunc(slices.Clone(p.Decisions), func(d scaffold.Decision) bool {
		return d.Table != table || !strings.Contains(d.Question, text)
	})
}

func TestTextsInRowsThatStayAreAskedOnceForEachTable(t *testing.T) {
	for _, table := range []string{
		"essays", "diary", "diaries", "journal", "check_ins", "moods", "recipes", "testimonials",
	} {
		for _, key := range []string{"user_id>users=cascade", "user_id>users/tenant_id=cascade"} {
			p := propose(t, schema("users: id*, email, tenant_id\n"+table+`: id*, `+key+`, tenant_id, body, story, ip,
				latitude:number, currency, kind:enum(a|b), code
				likes: parent_id>`+table+`, user_id>users`))
			if is, mapped := p.dataMap.Table(table); !mapped || is.Owned {
				t.Errorf("%s: the rows do not stay", table)
			}
			asked := p.questionsAbout(table, "texts")
			if len(asked) != 1 || !strings.Contains(asked[0].Question, "(body, story)") {
				t.Errorf("%s, %s: asked %v", table, key, p.Decisions)
			}
		}
	}
	p := propose(t, schema("users: id*, email, mood\nsessions: id*, user_id>users=cascade, body, ip"))
	if len(p.questionsAbout("users", "(mood)")) != 1 || len(p.questionsAbout("sessions", "texts")) != 0 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestCellsThatAreNullAreNotAsked(t *testing.T) {
	p := propose(t, schema("users: id*, email, work_email?, bio?, home_lat:number?, birthday:time"))
	if asked := p.questionsAbout("users", "NULL"); len(asked) > 0 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestALocationOnWhichOthersActIsAsked(t *testing.T) {
	lines := `
		users: id*, email
		notes: id*, latitude:integer, longitude:integer, user_id>users, body, tile:bigint
		`
	for others, want := range map[string]bool{
		"note_comments: id*, note_id>notes, author_id>users, body": true,
		"note_files: id*, note_id>notes, size:integer":             false,
	} {
		p := propose(t, schema(lines+others))
		isLeft := p.column(t, "notes.latitude").Personal == nil && p.column(t, "notes.longitude").Personal == nil
		if isLeft != want || slices.Contains(p.asked(), "notes.latitude") != want {
			t.Errorf("%s: asked %v, left: %t", others, p.Decisions, isLeft)
		}
		i := slices.IndexFunc(p.Decisions, func(d scaffold.Decision) bool { return slices.Contains(d.Further, "longitude") })
		if i >= 0 != want || want && p.Decisions[i].Column != "latitude" {
			t.Errorf("%s: the question does not name both columns: %v", others, p.Decisions)
		}
	}
}

func TestWhatRepeatsALocationIsAsked(t *testing.T) {
	for _, column := range []string{
		"home_tile:bigint", "geohash", "quadkey", "h3_index:bigint", "s2_cell:bigint", "geom:geometry", "location",
		"point:point",
	} {
		name, _, _ := strings.Cut(column, ":")
		p := propose(t, schema("users: id*, email, home_lat:number, home_lon:number, "+column))
		if p.column(t, "users."+name).Personal == nil && !slices.Contains(p.asked(), "users."+name) {
			t.Errorf("asked %v, not about %s", p.Decisions, name)
		}
		p = propose(t, schema("users: id*, email, "+column))
		if len(p.questionsAbout("users", "repeat")) > 0 {
			t.Errorf("asked about %s without a location", name)
		}
	}
}

func TestBytesInRowsThatStayAreAsked(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email
		essays: id*, user_id>users=cascade, body, ip, ink:bytes, checksum:bytes
		likes: parent_id>essays, user_id>users
		sessions: id*, user_id>users=cascade, ip, ink:bytes`))
	if len(p.questionsAbout("essays", "Do further texts and bytes hold personal data (body, ink)?")) != 1 ||
		len(p.questionsAbout("sessions", "Do further")) > 0 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestArraysInRowsThatStayAreAsked(t *testing.T) {
	catalog := schema(`
		users: id*, email, cards:array, likings:array, traits:hstore, tallies:array
		essays: id*, user_id>users=cascade, body, ip, drafts:array, lines:array
		likes: parent_id>essays, user_id>users
		sessions: id*, user_id>users=cascade, ip, lines:array`)
	for i := range catalog.Tables {
		for j, c := range catalog.Tables[i].Columns {
			if declared, ok := map[string]string{"cards": "jsonb[]", "drafts": "json[]", "tallies": "int[]"}[c.Name]; ok {
				catalog.Tables[i].Columns[j].Declared = declared
			}
		}
	}
	p := propose(t, catalog)
	for _, column := range []string{"users.cards", "users.traits", "essays.drafts"} {
		if !slices.Contains(p.asked(), column) {
			t.Errorf("not asked about %s, but %v", column, p.Decisions)
		}
	}
	if len(p.questionsAbout("users", "Do further texts and arrays hold personal data (likings, tallies)?")) != 1 ||
		len(p.questionsAbout("essays", "Do further texts and arrays hold personal data (body, lines)?")) != 1 ||
		len(p.questionsAbout("sessions", "lines")) > 0 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// A program that parses the documents of a thread may show none of them if one is empty.
func TestAnEmptyDocumentIsAsked(t *testing.T) {
	const question = "writes the empty document {} (body)"
	for column, want := range map[string]int{"body:json": 1, "body:json?": 1, "body": 0} {
		p := propose(t, schema(users+"threads: id*\nthread_messages: id*, thread_id>threads, author_id?>users, "+column))
		if asked := p.questionsAbout("thread_messages", question); len(asked) != want {
			t.Errorf("%s: asked %v", column, p.Decisions)
		}
	}
}

func TestAnAnswerWithoutAnAnnotationIsAsked(t *testing.T) {
	for column, want := range map[string]int{"value:json": 1, "value": 1, "score:integer": 0, "value:enum(a|b)": 0} {
		p := propose(t, schema(users+"form_answers: id*, user_id>users=cascade, question, "+column))
		if asked := p.questionsAbout("form_answers", "an export leaves"); len(asked) != want {
			t.Errorf("%s: asked %v", column, p.Decisions)
		}
	}
}

func TestAPartOfAnAddressIsAsked(t *testing.T) {
	const question = "part of the postal address"
	for columns, want := range map[string]int{
		"street_address, zip_code, state":          1,
		"street_address, country_code":             1,
		"state, total:integer":                     0,
		"street_address, payment_state":            0,
		"street_address, country_name":             1,
		"street_address, state_count:integer":      0,
		"street_address, state:enum(open|shipped)": 0,
	} {
		p := propose(t, schema(users+"messages: id*, sender_id>users, recipient_id>users, body, "+columns))
		if asked := p.questionsAbout("messages", question); len(asked) != want {
			t.Errorf("%s: asked %v", columns, p.Decisions)
		}
	}
}
