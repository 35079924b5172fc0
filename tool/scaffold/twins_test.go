package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

const twins = `
	logins: id:uuid*, email, password
	app_users: uid:bigint*, login_uuid:uuid!>logins=cascade, name
	spaces: space_id:uuid*, owner_uid:bigint>app_users/uid, title
	`

func proposeTwins(t *testing.T, lines string) proposed {
	t.Helper()
	catalog := schema(twins + lines)
	for i, table := range catalog.Tables {
		for j, key := range table.ForeignKeys {
			switch key.References {
			case "app_users":
				key.Columns, key.Referenced = key.Columns[:1], []string{"uid"}
			case "spaces":
				key.Referenced = []string{"space_id"}
			}
			catalog.Tables[i].ForeignKeys[j] = key
		}
	}
	return propose(t, catalog, scaffold.Options{SubjectTable: "logins"})
}

// People may have a second number in another table, by which other rows mean them.
func TestTheKeyOfATableWithOneRowForEachPersonIsAsked(t *testing.T) {
	for line, want := range map[string]string{
		"tasks: task_id:uuid*, uid:bigint?, size:integer":                         "The name of uid may mean a person",
		"tasks: task_id:uuid*, created_by:bigint, size:integer":                   "The name of created_by may mean a person",
		"tasks: task_id:uuid*, space_id:uuid>spaces=cascade, owner_uid:bigint":    "and perhaps by owner_uid, which",
		"tasks: task_id:uuid*, login_id:uuid>logins=cascade, owner_uid:bigint":    "seems to refer to app_users",
		"tasks: task_id:uuid*, owner_uid:uuid?, size:integer":                     "by owner_uid, which has no foreign key",
		"tasks: task_id:uuid*, size:bigint":                                       "",
		"tasks: uid:bigint*, size:integer":                                        "",
		"tasks: task_id:uuid*, uid:bigint, size:integer\nbooks: uid:bigint*":      "",
		"tasks: task_id:uuid*, owner_type:text, owner_uid:bigint, size:integer":   "",
		"tasks: task_id:uuid*, space_id:uuid>spaces=cascade, len:bigint":          "",
		"tasks: task_id:uuid*, uid:bigint>books, size:integer\nbooks: id:bigint*": "",
	} {
		p := proposeTwins(t, line)
		asked := p.questionsAbout("tasks", "")
		if want == "" && len(asked) > 0 || want != "" && len(p.questionsAbout("tasks", want)) != 1 {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
		isDeleted := slices.Contains(p.steps(), "delete tasks")
		if isDeleted != strings.Contains(line, "login_id") {
			t.Errorf("%s: the steps are %v", line, p.steps())
		}
	}
}

// The application deletes these rows with the only row of the person in another table.
func TestRowsOfTheOnlyRowOfAPersonAreAsked(t *testing.T) {
	for line, want := range map[string]int{
		"notes: note_id:uuid*, uid:bigint>app_users=cascade, data:json":  1,
		"notes: note_id:uuid*, uid:bigint?>app_users=cascade, data:json": 0,
		"notes: note_id:uuid*, uid:bigint>app_users, data:json":          0,
		"notes: note_id:uuid*, uid:uuid>spaces=cascade, data:json":       0,
	} {
		p := proposeTwins(t, line)
		if len(p.questionsAbout("notes", "Its rows lead to a person by uid. Are they")) != want {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
		wantNone(t, p, "delete notes")
	}
}

func TestOnlyATableWithOneRowForEachPersonHasASecondKey(t *testing.T) {
	for lines, want := range map[string]int{
		"app_users: uid:bigint*, login_id:uuid!>logins, name\ntasks: id:uuid*, created_by:bigint":       1,
		"app_users: uid:bigint*, login_id:uuid?!>logins, name\ntasks: id:uuid*, created_by:bigint":      0,
		"app_users: uid:bigint*, login_id:uuid>logins, name\ntasks: id:uuid*, created_by:bigint":        0,
		"app_users: uid:bigint*, login_id:uuid!>logins, name\ntasks: id:uuid*, created_by:text":         0,
		"app_users: tag:text*, login_id:uuid!>logins, name\ntasks: id:uuid*, author:text":               0,
		"app_users: number:bigint*, login_id:uuid!>logins, name\ntasks: id:uuid*, number:bigint":        0,
		"login_themes: theme_id:bigint*, login_id:uuid!>logins, color\ntasks: id:uuid*, made_by:bigint": 0,
		"login_themes: no:bigint*, login_id:uuid!>logins, color\ntasks: id:uuid*, owner_no:bigint":      0,
		"login_themes: no:bigint*, login_id:uuid!>logins, color\ntasks: id:uuid*, created_by:bigint":    0,
	} {
		p := propose(t, schema("logins: id:uuid*, email, password\n"+lines), scaffold.Options{SubjectTable: "logins"})
		if len(p.questionsAbout("tasks", "")) != want {
			t.Errorf("%s: asked %v", lines, p.Decisions)
		}
	}
	p := propose(t, schema(users+`
		app_users: uid:bigint*, user_id!>users=cascade, name
		searches: id*, user_id>users=cascade, query, reviewed_by:bigint`), scaffold.Options{SubjectTable: "users"})
	if len(p.questionsAbout("searches", "seems to refer to users")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}
