package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestPartsThatNameOtherPeopleAreAskedAndNotExported(t *testing.T) {
	for table, part := range map[string]string{
		"post_comments":    "author_name, author_email, body",
		"enrollments":      "student_name",
		"subscribers":      "email",
		"form_submissions": "answers, ip",
		"poll_votes":       "voter_name",
		"herd_logs":        "written_by, body",
	} {
		lines := users + `
			parents: id*, user_id>users=cascade, color
			` + table + `: id*, parent_id>parents=cascade, ` + part
		p := propose(t, schema(lines))
		mapped, ok := p.dataMap.Table(table)
		if !ok || !mapped.Owned || !slices.Contains(p.asked(), table) || !strings.Contains(mapped.Note, "other people") {
			t.Errorf("%s: %+v, asked about %v", table, mapped, p.asked())
		}
		for _, c := range mapped.Personal() {
			if c.Personal.Export != datamap.ExportNo {
				t.Errorf("an export shows %s.%s", table, c.Name)
			}
		}
		p = propose(t, schema(lines), scaffold.Options{Include: []string{table}})
		if mapped, _ = p.dataMap.Table(table); strings.Contains(mapped.Note, "other people") {
			t.Errorf("%s is included and asked: %s", table, mapped.Note)
		}
	}
	p := propose(t, schema(users+`
		parents: id*, user_id>users=cascade, email
		parts: id*, parent_id>parents=cascade, size:integer, comment`))
	for _, table := range p.dataMap.Tables() {
		for _, c := range table.Personal() {
			if c.Personal.Export == datamap.ExportNo || strings.Contains(table.Note, "other people") {
				t.Errorf("%s.%s is taken for data of others", table.Name, c.Name)
			}
		}
	}
}

func TestTextsToWhichRowsReplyStay(t *testing.T) {
	for column, want := range map[string]string{
		"body":  "anonymize remarks body",
		"note":  "anonymize remarks note",
		"title": "delete remarks",
	} {
		p := propose(t, schema(users+"remarks: id*, user_id>users=cascade, parent_id?>remarks=cascade, "+column))
		wantLines(t, p.steps(), want+`
			anonymize users email`)
	}
}

func TestRepliesInPartsOfARowGoWithIt(t *testing.T) {
	p := propose(t, schema(users+`
		posts: id*, user_id>users=cascade, title
		post_comments: id*, post_id>posts=cascade, parent_id?>post_comments=cascade, body`))
	wantLines(t, p.steps(), `
		delete post_comments
		delete posts
		anonymize users email
	`)
}

// A name alone, of a column that may be empty, does not show that a row belongs to the person.
func TestAGuessedReferenceThatMayBeEmptyDeletesNoPart(t *testing.T) {
	for column, want := range map[string]bool{"login_id?": false, "login_id": true} {
		p := propose(t, schema(users+`
			logins: id*, user_id>users=cascade, ip
			phrases: id*, `+column+`, color`))
		if _, ok := p.dataMap.Table("phrases"); ok != want {
			t.Errorf("%s: phrases are in the data map: %t", column, ok)
		}
	}
}

func TestTheClientOfOAuthIsNoPerson(t *testing.T) {
	lines := `
		clients: id*, email, full_name
		mailboxes: id*, client_id, %color
		orders: id*, client_id, email`
	for columns, want := range map[string]bool{"client_secret, ": false, "": true} {
		p := propose(t, schema(strings.ReplaceAll(lines, "%", columns)))
		if _, ok := p.dataMap.Table("mailboxes"); ok != want {
			t.Errorf("with %q, mailboxes are in the data map: %t", columns, ok)
		}
	}
}

func TestRowsOfContactsAreTheirOwn(t *testing.T) {
	p := propose(t, schema(`
		contacts: id*, email, full_name
		clicks: id*, contact_id>contacts=cascade, color`), scaffold.Options{SubjectTable: "contacts"})
	if clicks, ok := p.dataMap.Table("clicks"); !ok || !clicks.Owned {
		t.Errorf("the clicks of a contact: %+v", clicks)
	}
}

func TestTheSubjectTableHoldsPeopleWhateverItIsCalled(t *testing.T) {
	p := propose(t, schema("viewer: id*, email, name, image"), scaffold.Options{SubjectTable: "viewer"})
	wantLines(t, p.steps(), "anonymize viewer email name image")
}

func TestALinkToRowsThatStayStays(t *testing.T) {
	p := propose(t, schema(users+`
		sketches: id*, user_id>users=cascade, color
		panels: id*, created_by>users, title
		panel_sketches: panel_id*>panels=cascade, sketch_id*>sketches=cascade`))
	if mapped, ok := p.dataMap.Table("panel_sketches"); ok {
		t.Errorf("the link of another person's panel is deleted: %s", mapped.Note)
	}
}

// The row stays, and its person need not be the one whom the column names.
func TestTheNameOfSomebodyByAPartIsAsked(t *testing.T) {
	const lines = "places: id*, name\ntickets: id*, user_id>users, place_id>places, body, inspector_name, doctor_name"
	p := propose(t, schema(users+lines))
	if !slices.Contains(p.steps(), "anonymize tickets body") {
		t.Errorf("the steps are %v", p.steps())
	}
	for _, name := range []string{"inspector_name", "doctor_name"} {
		if asked := p.questionsAbout("tickets", "may describe other people"); len(asked) != 1 ||
			!slices.Contains(asked[0].Columns(), name) {
			t.Errorf("%s: asked %v", name, p.Decisions)
		}
	}
	p = propose(t, schema(strings.Replace(users, "email", "email, inspector_name", 1)+"\n"))
	if !slices.Contains(p.steps(), "anonymize users email inspector_name") {
		t.Errorf("the steps are %v", p.steps())
	}
}
