package scaffold_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// An audit trail says who acted. The thing may be another person's.
func TestAnIncludedTableGoesByThePersonWhoActed(t *testing.T) {
	options := scaffold.Options{Include: []string{"audit"}}
	for column, want := range map[string]string{
		"actor_id":                           "",
		"actor_id>users":                     "",
		"created_by:bigint>users":            "",
		"creator_id":                         "",
		"user_id":                            "",
		"actor_id, actor_type":               "the person of a row seems to be in actor_id",
		"actor_id:uuid":                      "the person of a row seems to be in actor_id",
		"user_id:bigint>users, creator_id":   "",
		"performed_by_id>users, approver_id": "",
	} {
		for _, of := range []string{"owner_id", "created_by:bigint"} {
			catalog := schema(users + `
				projects: id*, ` + of + `>users, title
				audit: id*, ` + column + `, event, project_id>projects, changes:json, ip_address`)
			_, err := scaffold.Propose(t.Context(), memory.NewSchema(catalog), options)
			if want != "" {
				if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: %v", column, of, err)
				}
				continue
			}
			p := propose(t, catalog, options)
			audit, ok := p.dataMap.Table("audit")
			if !ok || len(audit.Relations) == 0 || audit.Relations[0].References != "users" {
				t.Errorf("%s, %s: the relations of the audit trail are %+v", column, of, audit.Relations)
			}
		}
	}
}

// The question about the own rows of a person announces what an erasure would do with them.
func TestTheQuestionSaysThatIncludedRowsStay(t *testing.T) {
	const staying = "With --include, an erasure keeps them"
	for lines, want := range map[string]int{
		"imports: id*, user_id?>users, name, q:number":                                                        0,
		"imports: id*, user_id?>users=set_null, name, q:number":                                               0,
		"imports: id*, user_id>users, editor_id>users, email, q:number":                                       1,
		"imports: id*, user_id?>users, name, q:number\nsizes: import_id>imports, size:integer":                1,
		"folders: id*, created_by:bigint>users, name\nimports: id*, folder_id>folders, email, name, q:number": 1,
	} {
		p := propose(t, schema(users+lines))
		if asked := p.questionsAbout("imports", staying); len(asked) != want {
			t.Errorf("%s: asked %v", lines, p.Decisions)
		}
		p = propose(t, schema(users+lines), scaffold.Options{Include: []string{"imports"}})
		if table, ok := p.dataMap.Table("imports"); !ok || table.Owned != (want == 0) {
			t.Errorf("%s: the steps are %v", lines, p.steps())
		}
	}
}

func TestTheSubjectTableCanBeIncluded(t *testing.T) {
	p := propose(t, schema("users: id*, email, name, actor_id:uuid"), scaffold.Options{Include: []string{"users"}})
	if got := p.dataMap.SubjectTable().Name; got != "users" {
		t.Errorf("the subject table is %q", got)
	}
}

func TestRowsThroughAThingOfOthersAreAsked(t *testing.T) {
	p := propose(t, schema(users+`
		projects: id*, created_by:bigint>users, title
		audit: id*, event, project_id>projects, changes:json, ip_address`), scaffold.Options{Include: []string{"audit"}})
	audit, _ := p.dataMap.Table("audit")
	if !strings.Contains(audit.Note, "only through rows of projects") {
		t.Errorf("the note is %q", audit.Note)
	}
}

func TestTheTextsOfAnIncludedTableAreThePersons(t *testing.T) {
	lines := users + `
		drafts: id*, user_id?>users, email, name, data, fields:json, code!, key, version, currency_code, kind:enum(a|b)
		draft_sizes: draft_id>drafts, size:integer`
	p := propose(t, schema(lines), scaffold.Options{Include: []string{"drafts"}})
	wantLines(t, p.steps(), `
		anonymize drafts email name data fields code key
		anonymize users email
	`)
}

func TestAnIncludedTableWithPartsThatStayIsOverwritten(t *testing.T) {
	lines := `
		users: id*, email
		imports: id*, user_id:bigint, filename
		import_items: id*, import_id:bigint, details`
	if asked := propose(t, schema(lines)).asked(); len(asked) == 0 {
		t.Error("no question")
	}
	p := propose(t, schema(lines), scaffold.Options{Include: []string{"imports"}})
	wantLines(t, p.steps(), `
		anonymize imports filename
		anonymize users email
	`)
	p = propose(t, schema(lines), scaffold.Options{Include: []string{"imports", "import_items"}})
	wantLines(t, p.steps(), `
		delete import_items
		delete imports
		anonymize users email
	`)
}

// An owner may be a team. The person who added an owner is not the owner.
func TestTheMakerOfARowIsNotItsOwner(t *testing.T) {
	for _, columns := range []string{
		"owner_id, owner_kind:integer", "owner_id, owner_kind", "owner_id, owner_kind:enum(user|team)",
		"owner_id, owner_type:smallint", "owner_id, owner_type", "owner_id", "owner_id:uuid", "user_id, user_type",
	} {
		catalog := schema(users + "crates: id*, name\ncrate_owners: id*, crate_id>crates, " + columns +
			", created_by:bigint>users, note")
		column, _, _ := strings.Cut(columns, ",")
		column, _, _ = strings.Cut(column, ":")
		p := propose(t, catalog)
		if len(p.questionsAbout("crate_owners", "the owner of the row")) != 1 {
			t.Errorf("%s: asked %v", columns, p.Decisions)
		}
		_, err := scaffold.Propose(t.Context(), memory.NewSchema(catalog),
			scaffold.Options{Include: []string{"crate_owners"}})
		if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), "seems to be in "+column) {
			t.Errorf("%s: %v", columns, err)
		}
	}
	p := propose(t, schema(users+"crates: id*, name\ncrate_owners: id*, crate_id>crates, owner_id, owner_kind:integer"))
	if len(p.questionsAbout("crate_owners", "The column owner_kind seems to name")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestAListOfTablesIsNoTable(t *testing.T) {
	_, err := scaffold.Propose(t.Context(), memory.NewSchema(schema(users+"posts: id*, user_id>users")),
		scaffold.Options{Include: []string{"posts,users"}})
	if err == nil || !strings.Contains(err.Error(), "repeat --include") {
		t.Errorf("the error is %v", err)
	}
}

// The author of an included thing has a reference of its own. A longer path leads to somebody who only works with it.
func TestAnIncludedThingGoesByItsAuthor(t *testing.T) {
	const lines = `
		groups: id*, mentor_id>users, name
		assignments: id*, group_id>groups=cascade, name
		projects: id*, author_id>users, assignment_id?>assignments, name, description`
	p := propose(t, schema(users+lines), scaffold.Options{Include: []string{"projects"}})
	projects, _ := p.dataMap.Table("projects")
	for _, r := range projects.Relations {
		if r.References != "users" {
			t.Errorf("a relation leads to %s", r.References)
		}
	}
	if len(projects.Relations) != 1 || projects.Relations[0].Columns[0] != "author_id" {
		t.Errorf("the relations are %v", projects.Relations)
	}
}

// A person who approved or awarded a row decided about a row of somebody else.
func TestATableOfJudgesIsNotIncluded(t *testing.T) {
	options := scaffold.Options{Include: []string{"points"}}
	for columns, want := range map[string]string{
		"awarder_id>users, comment":                         "decided about rows of others",
		"approved_by>users, comment":                        "decided about rows of others",
		"updated_by>users, approver_id>users, comment":      "decided about rows of others",
		"publisher_id>users, comment":                       "",
		"opened_by>users, comment":                          "",
		"author_id>users, approver_id>users, comment":       "",
		"member_id>members, created_by_id>users, comment":   "seems to be in member_id",
		"course_user_id>members, awarder_id>users, comment": "seems to be in course_user_id",
		"member_id>members, author_id>users, comment":       "",
		"vendor_id>members, created_by_id>users, comment":   "",
		"member_id>members, user_id>users, comment":         "",
		"assignee_id:bigint, main_participant_id, comment":  "seems to be in main_participant_id",
	} {
		catalog := schema(users + "members: id*, user_id>users, name\npoints: id*, " + columns)
		_, err := scaffold.Propose(t.Context(), memory.NewSchema(catalog), options)
		if (want == "") != (err == nil) ||
			want != "" && (!errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", columns, err)
		}
	}
	moderators := schema("moderators: id*, email, name\nnotes: id*, moderator_id>moderators, comment")
	p := propose(t, moderators, scaffold.Options{SubjectTable: "moderators", Include: []string{"notes"}})
	if len(p.dataMap.Paths("notes")) != 1 {
		t.Errorf("the steps are %v", p.steps())
	}
}

// A picture on the cover of a text does not make the text its owner's.
func TestATableIsNotIncludedByAPointerToAThing(t *testing.T) {
	for column, want := range map[string]bool{"cover_id": false, "media_id": true} {
		catalog := schema(users + "medias: id*, owner_id>users, path\nposts: id*, " + column +
			"?>medias=set_null, title, content")
		options := scaffold.Options{Include: []string{"medias", "posts"}}
		_, err := scaffold.Propose(t.Context(), memory.NewSchema(catalog), options)
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "only by "+column) {
			t.Errorf("%s: %v", column, err)
		}
	}
}

func TestRecordsThatMustBeKeptAreNotIncludedWithoutPersonalColumns(t *testing.T) {
	for _, lines := range []string{
		"invoices: id*, user_id>users, number, data:json",
		"invoices: id*, user_id>users, number\ninvoice_items: id*, invoice_id>invoices, sku",
		"invoices: id*, created_by:bigint>users, number, total:number",
	} {
		include := []string{"invoices"}
		if strings.Contains(lines, "items") {
			include = []string{"invoices", "invoice_items"}
		}
		options := scaffold.Options{Include: include}
		_, err := scaffold.Propose(t.Context(), memory.NewSchema(schema(users+lines)), options)
		if !errors.Is(err, domain.ErrInvalid) {
			t.Errorf("%s: the records are included: %v", lines, err)
		}
	}
}

// A number with the name of several people may be their count.
func TestATableIsNotIncludedByACount(t *testing.T) {
	catalog := schema("users: id*, email\nchannels: id*, username, bio, followers:bigint, following:integer")
	_, err := scaffold.Propose(t.Context(), memory.NewSchema(catalog), scaffold.Options{Include: []string{"channels"}})
	if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), "may be a count") {
		t.Errorf("the error is %v", err)
	}
}
