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
