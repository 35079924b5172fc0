package scaffold_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/internal/facts"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// schemas are catalogs of many kinds.
var schemas = map[string]string{
	"a forum": `
		users: id*, email!, password_hash, role:enum(admin|user|deleted), is_admin:boolean, status, deleted_at:time?,
			settings:json, sessions:json?, created_at:time, mood?, nick?, team_id?>teams=set_null, invited_by_id?>users
		teams: id*, name, owner_id>users=cascade
		team_members: id*, team_id>teams=cascade, user_id>users=cascade
		user_settings: user_id*>users=cascade, theme
		logins: id*, user_id>users=cascade, ip, at:time
		login_parts: id*, login_id>logins=cascade, x:json
		invoices: id*, user_id>users=cascade, name, total:number, issued_at:time
		posts: id*, author_id>users, title, body, parent_id?>posts=set_null, approved_by:bigint?>users
		comments: id*, post_id>posts=cascade, author_id>users=cascade, body
		likes: user_id*>users=cascade, post_id*>posts=cascade
		tags: id*, name
		rates: id*, x:number`,
	"no foreign keys": `
		users: id*, username, email, password, status:bigint, is_bot:boolean
		projects: id*, owner_id, title, parent_project_id
		tasks: id*, project_id, created_by_id, title, description, position:bigint
		task_comments: id*, task_id, author_id, comment
		task_assignees: id*, task_id, user_id
		notifications: id*, project_id, notifiable_id, name, notification:json
		link_shares: id*, project_id, shared_by_id, hash, password
		sessions: token*, user_id, user_agent
		files: id*, created_by_id, name, size:bigint
		labels: id*, title, hex_color:text(6)`,
	"composite keys": `
		users: tenant_id*, id*, email, tenant
		orders: id*, tenant_id, user_id>users/tenant_id, note
		carts: tenant_id*, id*, owner_id, note
		files: id*, author_id, name`,
	"text keys": `
		people: code:text(12)*, email, name
		visits: id*, person:text(12)>people, place
		notes: id*, author:text(12), body
		rooms: code:text(12)*, title`,
	"two ways back": `
		users: id*, email, avatar_id?>files
		files: id*, user_id>users=cascade, album_id?>albums, path
		albums: id*, cover_id?>files, owner_id>users, title
		pins: id*, album_id>albums=cascade, file_id>files, label`,
	"several kinds of owners": `
		users: id*, email
		teams: id*, name
		docs: id*, owner_type, owner_id, body
		marks: id*, item_type:enum(post|user), item_id, note
		flags: id*, item_type:enum(post|page), item_id, note`,
	"quoted names": `
		Users: Id:bigint*, "E-Mail", displayName
		Order Lines: Id:bigint*, UserId:bigint>Users, Note
		Äcker: Id:bigint*, UserId:bigint, Größe`,
	"rows of rows that go": `
		users: id*, email
		carts: id*, user_id>users
		cart_items: id*, cart_id>carts, note
		teams: id*, owner_id>users
		posts: id*, user_id>users, team_id>teams, message`,
	"secret keys": `
		users: id:uuid*, email, api_key!, phone:text(5)!
		api_keys: key*, user_id:uuid>users, name
		tokens: id:uuid*, user_id:uuid>users=cascade, token_hash!`,
}

// everyProposal calls f with the proposal of each schema.
func everyProposal(t *testing.T, f func(t *testing.T, catalog datamap.Catalog, p proposed)) {
	t.Helper()
	for name, text := range schemas {
		t.Run(name, func(t *testing.T) {
			catalog := schema(strings.ReplaceAll(text, ",\n\t\t\t", ", "))
			subject := ""
			if name == "quoted names" {
				subject = "Users"
			}
			f(t, catalog, propose(t, catalog, scaffold.Options{SubjectTable: subject}))
		})
	}
}

func TestEachOptionGivesAValidDataMap(t *testing.T) {
	everyProposal(t, func(t *testing.T, _ datamap.Catalog, p proposed) {
		for _, decision := range p.Decisions {
			for _, option := range decision.Options {
				tables, err := decision.Apply(p.Tables, option.Name)
				must(t, err)
				plan(t, decision.Object+" "+option.Name, tables)
			}
		}
	})
}

func TestTheFirstOptionsTogetherGiveAValidDataMap(t *testing.T) {
	everyProposal(t, func(t *testing.T, _ datamap.Catalog, p proposed) {
		tables := p.Tables
		for _, decision := range p.Decisions {
			if decision.LeavesOut(decision.Options[0].Name) {
				continue
			}
			after, err := decision.Apply(tables, decision.Options[0].Name)
			must(t, err)
			plan(t, decision.Object+" "+decision.Options[0].Name, after)
			tables = after
		}
	})
}

func TestEachTableIsDecidedOrInQuestion(t *testing.T) {
	everyProposal(t, func(t *testing.T, catalog datamap.Catalog, p proposed) {
		subject := p.dataMap.SubjectTable()
		read := facts.Read(catalog, subject.Name, subject.SubjectKey)
		for _, table := range catalog.Tables {
			_, isMapped := p.dataMap.Table(table.Name)
			isLeft := slices.ContainsFunc(p.LeftOut, func(l scaffold.LeftOut) bool { return l.Table == table.Name })
			about := 0
			for _, d := range p.Decisions {
				if d.Covers(table) && len(d.Columns) == 0 {
					about++
				}
			}
			if isSubject := table.Name == subject.Name; isSubject != (isMapped && about == 1) || about > 1 ||
				!isSubject && isMapped == (about == 1 || isLeft) {
				t.Errorf("%s is in the data map: %t, left out: %t, in %d questions", table.Name, isMapped, isLeft, about)
			}
			for _, column := range table.Columns {
				if read.CouldHoldKey(table, column) && table.Name != subject.Name && about == 0 {
					t.Errorf("%s.%s could hold a key", table.Name, column.Name)
				}
			}
		}
		checkPerson(t, catalog, p)
	})
}

// checkPerson checks that at most ten questions are about the row of the person, and that they cover its columns.
func checkPerson(t *testing.T, catalog datamap.Catalog, p proposed) {
	t.Helper()
	subject, questions, asked := p.dataMap.SubjectTable(), 0, map[string]bool{}
	for _, d := range p.Decisions {
		if d.Object == subject.Name {
			questions++
			for _, column := range d.Columns {
				asked[column] = true
			}
		}
	}
	if questions > 10 {
		t.Errorf("%d questions are about the row of the person", questions)
	}
	table, _ := catalog.Table(subject.Name)
	for _, c := range subject.Columns {
		isReference := slices.ContainsFunc(table.ForeignKeys, func(k datamap.CatalogForeignKey) bool {
			return slices.Contains(k.Columns, c.Name)
		})
		if c.Personal == nil && !slices.Contains(subject.PrimaryKey, c.Name) && !isReference && !asked[c.Name] {
			t.Errorf("nobody decides about %s", c.Name)
		}
	}
}

func TestADraftOfALargeSchemaAsksAboutEachTable(t *testing.T) {
	text := "users: id*, email, name\n"
	for i := range 60 {
		text += fmt.Sprintf("t%d: id*, user_id>users, t%d_id>t%d, author_id, x1_id, x2_id, title, body, at:time\n",
			i, max(0, i-1), max(0, i-1))
	}
	p := propose(t, schema(text))
	if len(p.Decisions) < 60 {
		t.Errorf("there are %d questions", len(p.Decisions))
	}
}

func plan(t *testing.T, about string, tables []datamap.Table) datamap.Plan {
	t.Helper()
	m, err := datamap.NewDataMap(tables...)
	if err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	planned, err := erasure.Planner{}.Plan(m, nil)
	if err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	return planned
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAKeyWithoutANameOfAPersonIsNamedWithItsHarm: only its type shows that shared_with could hold a person's key.
func TestAKeyWithoutANameOfAPersonIsNamedWithItsHarm(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email
		notes: id*, user_id, shared_with:bigint, title`), scaffold.Options{})
	const harm = "These have the type of a key, too: shared_with. Where one names another person, an erasure changes " +
		"that person's row."
	i := slices.IndexFunc(p.Decisions, func(d datamap.Decision) bool { return d.Object == "notes" })
	if !strings.Contains(p.Decisions[i].Question, harm) {
		t.Errorf("the question is %s", p.Decisions[i].Question)
	}
}

// TestRowsThatOutliveThePersonOnlyLoseHer: the schema says so by ON DELETE SET NULL. A table that loses another
// reference that way says nothing about the person.
func TestRowsThatOutliveThePersonOnlyLoseHer(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email, roles:array
		folders: id*, owner_id>users, title
		settings: id*, changed_by_id?>users=set_null, title
		papers: id*, author_id>users, folder_id?>folders=set_null, title`), scaffold.Options{})
	first := map[string]string{"settings": "without", "papers": "overwrite:author_id", "users.roles": "always:{}"}
	for _, d := range p.Decisions {
		object := strings.Join(append([]string{d.Object}, d.Columns...), ".")
		if want, ok := first[object]; ok && d.Options[0].Name != want {
			t.Errorf("the first option of %s is %s, want %s", object, d.Options[0].Name, want)
		}
		delete(first, object)
	}
	if len(first) > 0 {
		t.Errorf("no question about %v", first)
	}
}
