package scaffold_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// mailbox is a schema in which almost all rows hang on the mail accounts of a person.
const mailbox = users + `
	mail_accounts: id*, user_id>users=cascade, email, name
	rules: id*, mail_account_id>mail_accounts=cascade, name, folder_id?>folders=set_null
	folders: id*, mail_account_id>mail_accounts=cascade, parent_id?>folders=cascade, title
	actions: id*, rule_id>rules=cascade, content
	runs: id*, mail_account_id>mail_accounts=cascade, rule_id?>rules=set_null, feedback?`

func TestRowsThatGoWithThePersonAreDeleted(t *testing.T) {
	p := propose(t, schema(mailbox))
	wantLines(t, p.steps(), `
		delete actions
		delete runs
		delete rules
		delete folders
		delete mail_accounts
		anonymize users email
	`)
	for _, table := range []string{"mail_accounts", "rules", "folders", "runs"} {
		if !slices.Contains(p.asked(), table) {
			t.Errorf("not asked about %s, but about %v", table, p.asked())
		}
	}
}

func TestRowsWithASecondOwnerAreLeft(t *testing.T) {
	for name, lines := range map[string]string{
		"a group": `
			teams: id*, name
			papers: id*, user_id>users=cascade, team_id?>teams=set_null, title`,
		"a part of a group": `
			teams: id*, name
			boards: id*, team_id>teams, title
			papers: id*, user_id>users=cascade, board_id>boards=cascade, title`,
		"what a link shares": `
			lists: id*, title
			lists_users: list_id*>lists, user_id*>users
			papers: id*, user_id>users=cascade, list_id>lists, title`,
		"readers": `
			papers: id*, user_id>users=cascade, title
			papers_users: paper_id*>papers=cascade, user_id*>users=cascade`,
		"another person":         `papers: id*, user_id>users=cascade, editor_id?>users, title`,
		"a row without a person": `papers: id*, user_id?>users=cascade, title`,
		"no declaration":         `papers: id*, user_id>users, title`,
		"the person approved":    `papers: id*, approved_by:bigint>users=cascade, title`,
		"the person made it":     `papers: id*, created_by:bigint>users=cascade, title`,
		"the maker of a secret":  `papers: id*, creator_id>users=cascade, private_key`,
		"the person began it":    `papers: id*, started_by:bigint>users=cascade, title`,
		"what a person pays for": `papers: id*, user_id>users=cascade, stripe_plan`,
	} {
		t.Run(name, func(t *testing.T) {
			p := propose(t, schema(users+lines), scaffold.Options{SubjectTable: "users"})
			if slices.Contains(p.steps(), "delete papers") {
				t.Errorf("the steps are %v", p.steps())
			}
		})
	}
	for _, thing := range []string{"repositories", "calendars", "signing_keys", "boards"} {
		for _, role := range []string{"created_by:bigint", "creator_id", "issued_by:bigint", "author_id"} {
			p := propose(t, schema(users+thing+": id*, "+role+">users=cascade, title, private_key"))
			isMade := thing != "signing_keys" || role != "author_id" // an author may own a key
			if _, ok := p.dataMap.Table(thing); isMade && (ok || !slices.Contains(p.asked(), thing)) {
				t.Errorf("%s by %s: the steps are %v", thing, role, p.steps())
			}
		}
	}
	for _, record := range []string{"webhooks", "channels", "teams", "products", "invitations", "projects", "prices"} {
		p := propose(t, schema(users+record+`: id*, user_id>users=cascade, title`))
		if _, ok := p.dataMap.Table(record); ok || !slices.Contains(p.asked(), record) {
			t.Errorf("%s: the steps are %v", record, p.steps())
		}
	}
}

func TestPartitionsOfTheDatabaseAreNoSecondOwners(t *testing.T) {
	for name, lines := range map[string]string{
		"the people belong to one": `
			tenants: id*, name
			users: id*, tenant_id>tenants=cascade, email
			papers: id*, tenant_id>tenants=cascade, user_id>users=cascade, title
			pages: id*, tenant_id>tenants=cascade, paper_id>papers=cascade, color`,
		"most tables refer to it": `
			realms: id*, name
			users: id*, email
			papers: id*, realm_id>realms=cascade, user_id>users=cascade, title
			pages: id*, realm_id>realms=cascade, paper_id>papers=cascade, color
			a: id*, realm_id>realms
			b: id*, realm_id>realms`,
		"the reference to the person has the tenant": `
			tenants: id*, name
			users: id*, tenant_id>tenants=cascade, email
			papers: tenant_id*, user_id*>users=cascade, title
			pages: id*, tenant_id>tenants=cascade, paper_id, user_id>users=cascade, color`,
	} {
		t.Run(name, func(t *testing.T) {
			catalog := schema(lines)
			for i, table := range catalog.Tables {
				if key := []string{"tenant_id", "user_id"}; slices.Equal(table.PrimaryKey, key) {
					catalog.Tables[i].ForeignKeys = append(table.ForeignKeys, datamap.CatalogForeignKey{
						Columns: key, References: "users", Referenced: []string{"tenant_id", "id"}, OnDelete: datamap.ActionCascade,
					})
				}
			}
			wantLines(t, propose(t, catalog, scaffold.Options{SubjectTable: "users"}).steps(), `
				delete pages
				delete papers
				anonymize users email
			`)
		})
	}
	for name, lines := range map[string]string{
		"few tables refer to it": `
			teams: id*, name
			users: id*, email
			papers: id*, team_id>teams=cascade, user_id>users=cascade, title
			a: id*, team_id>teams`,
		"the people may belong to one": `
			teams: id*, name
			users: id*, team_id?>teams=cascade, email
			papers: id*, team_id>teams=cascade, user_id>users=cascade, title`,
		"it has members": `
			teams: id*, name
			users: id*, email
			members: id*, team_id>teams=cascade, user_id>users=cascade
			papers: id*, team_id>teams=cascade, user_id>users=cascade, title
			a: id*, team_id>teams
			b: id*, team_id>teams`,
		"it has an owner": `
			teams: id*, owner_id>users, name
			users: id*, email
			papers: id*, team_id>teams=cascade, user_id>users=cascade, title
			a: id*, team_id>teams
			b: id*, team_id>teams
			c: id*, team_id>teams`,
	} {
		t.Run(name, func(t *testing.T) {
			p := propose(t, schema(lines), scaffold.Options{SubjectTable: "users"})
			if slices.Contains(p.steps(), "delete papers") {
				t.Errorf("the steps are %v", p.steps())
			}
		})
	}
}

func TestRowsOfTheSamePersonMayReferToEachOther(t *testing.T) {
	for name, test := range map[string]struct {
		lines, same string // same has the tables whose relations state that both rows are of the same person
		deleted     bool   // the rows of books
	}{
		"a mark that may lose its book": {`
			marks: id*, user_id>users=cascade, book_id?>books=set_null, color, size:integer`, "marks", true},
		"a mark": {`
			marks: id*, user_id>users=cascade, book_id>books=cascade, size:integer`, "marks", true},
		"a comment":                 {`comments: id*, user_id>users=cascade, book_id>books=cascade, body`, "", false},
		"a donation":                {`donations: id*, user_id>users=cascade, book_id>books=cascade, note`, "", false},
		"a price":                   {`marks: id*, user_id>users=cascade, book_id>books=cascade, amount:integer`, "", false},
		"a mark of a reader":        {`marks: id*, reader_id>users=cascade, book_id>books=cascade, size:integer`, "", false},
		"a like":                    {`likes: id*, user_id>users=cascade, book_id>books=cascade`, "", false},
		"a mark of nobody":          {`marks: id*, user_id?>users=cascade, book_id>books=cascade, size:integer`, "", false},
		"two books":                 {`pairs: id*, a_id>books=cascade, b_id>books=cascade, size:integer`, "", false},
		"a part":                    {`pages: id*, book_id>books=cascade, body`, "", true},
		"a comment in a part of it": {`pages: id*, book_id>books=cascade, comment`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := propose(t, schema(users+`
				books: id*, user_id>users=cascade, title
				`+test.lines))
			if got := slices.Contains(p.steps(), "delete books"); got != test.deleted {
				t.Errorf("the steps are %v", p.steps())
			}
			for _, table := range p.dataMap.Tables() {
				same := slices.ContainsFunc(table.Relations, func(r datamap.Relation) bool { return r.SamePerson })
				if same != (table.Name == test.same) || same && !slices.Contains(p.asked(), table.Name) {
					t.Errorf("%s: %+v, asked about %v", table.Name, table.Relations, p.asked())
				}
			}
		})
	}
}

func TestAnAnswerToAProfileKeepsIt(t *testing.T) {
	p := propose(t, schema(users+`
		profiles: id*, user_id!>users=cascade, bio
		articles: id*, profile_id>profiles=cascade, title
		replies: id*, profile_id>profiles=cascade, article_id>articles=cascade, body`))
	if slices.Contains(p.steps(), "delete articles") {
		t.Errorf("the steps are %v", p.steps())
	}
}

func TestAPointerToAPartDoesNotKeepIt(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email, last_chat_id?>chats=set_null
		chats: id*, user_id>users=cascade, title, last_line_id?>lines=set_null
		lines: id*, chat_id>chats=cascade, body`))
	wantLines(t, p.steps(), `
		delete lines
		delete chats
		anonymize users email
	`)
}

// The database would set the shared column to NULL, too.
func TestAPointerThatTheDatabaseCannotClearKeepsThePart(t *testing.T) {
	p := propose(t, schema(`
		users: id*, tenant_id, email, last_chat_id?>chats/tenant_id=set_null
		chats: id*, tenant_id, user_id>users=cascade, title`))
	if slices.Contains(p.steps(), "delete chats") {
		t.Errorf("the steps are %v", p.steps())
	}
}

func TestPartsOfRowsThatStayAreLeftOut(t *testing.T) {
	lines := mailbox + `
		teams: id*, name
		invitations: id*, team_id>teams=cascade, inviter_id>mail_accounts=cascade, email
		members: id:text*, team_id>teams=cascade, mail_account_id>mail_accounts=cascade, role`
	p := propose(t, schema(lines))
	wantLines(t, p.steps(), `
		anonymize mail_accounts email name
		anonymize users email
	`)
	if !slices.Contains(p.asked(), "rules") || !slices.Contains(p.asked(), "runs") {
		t.Errorf("asked about %v", p.asked())
	}
	p = propose(t, schema(lines), scaffold.Options{Include: []string{"rules", "runs"}})
	wantLines(t, p.steps(), `
		delete actions
		delete runs
		delete rules
		anonymize mail_accounts email name
		anonymize users email
	`)
}

func TestRowsThatHangOnRowsThatStayAreLeftOut(t *testing.T) {
	p := propose(t, schema(users+`
		diaries: id*, user_id>users=cascade, entry
		diary_versions: id*, diary_id>diaries=cascade, editor_id>users, body
		diary_readers: diary_id*>diaries=cascade, email:text*`))
	wantLines(t, p.steps(), "anonymize users email")
	for _, table := range []string{"diaries", "diary_readers"} {
		if _, ok := p.dataMap.Table(table); ok || !slices.Contains(p.asked(), table) {
			t.Errorf("%s is in the data map, or not asked: %v", table, p.asked())
		}
	}
}

func TestAnIncludedTableTakesItsPartsIn(t *testing.T) {
	lines := users + `
		products: id*, user_id>users=cascade, title
		sheets: id*, product_id>products=cascade, body
		lines: id*, sheet_id>sheets=cascade, price`
	wantLines(t, propose(t, schema(lines)).steps(), "anonymize users email")
	wantLines(t, propose(t, schema(lines), scaffold.Options{Include: []string{"products"}}).steps(), `
		delete lines
		delete sheets
		delete products
		anonymize users email
	`)
}

func TestMembershipsWithARoleAreDeleted(t *testing.T) {
	p := propose(t, schema(`
		User: id:text*, email
		Workspace: id:text*, name
		MemberInWorkspace: userId:text>User=cascade, workspaceId:text>Workspace=cascade, role:enum(a|b), createdAt:time
		Grants: id:text*, userUid:text>User=cascade, workspaceId:text>Workspace=cascade, role`))
	for i, table := range p.dataMap.Tables() {
		if i > 0 && !table.Owned {
			t.Errorf("%s stays", table.Name)
		}
	}
	if _, ok := p.dataMap.Table("Grants"); !ok {
		t.Errorf("the steps are %v", p.steps())
	}
}

func TestATableOfPeopleWithClearlyMoreReferencesIsAsked(t *testing.T) {
	lines := `
		users: id*, email, password, name, phone, gender
		members: id*, nick
		a: id*, member_id>members
		b: id*, member_id>members
		c: id*, member_id>members`
	_, err := scaffold.Propose(t.Context(), memory.NewSchema(schema(lines)), scaffold.Options{})
	if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), "members (score") {
		t.Errorf("got %v", err)
	}
	p := propose(t, schema(strings.ReplaceAll(lines, "nick", "user_id>users=cascade, nick")))
	if name := p.dataMap.SubjectTable().Name; name != "users" {
		t.Errorf("the people are in %s", name)
	}
}

func TestThePeopleWinAgainstTheirAccounts(t *testing.T) {
	p := propose(t, schema(`
		user: id*, name, email
		account: id*, user_id>user=cascade, provider, access_token
		email_account: id*, user_id>user=cascade, account_id!>account=cascade, email, name, about, signature
		rules: id*, email_account_id>email_account=cascade, title
		chats: id*, email_account_id>email_account=cascade, title`))
	if name := p.dataMap.SubjectTable().Name; name != "user" {
		t.Errorf("the people are in %s", name)
	}
}

func TestTheReasonForALostPersonIsTrue(t *testing.T) {
	p := propose(t, schema(users+`
		tickets: id*, user_id?>users=set_null, assignee_id>users=cascade, urgency`))
	for _, out := range p.LeftOut {
		if out.Table == "tickets" && !strings.Contains(out.Reason, "only name other people") {
			t.Error(out.Reason)
		}
	}
}

func TestAPartitionIsNoParent(t *testing.T) {
	p := propose(t, schema(`
		tenants: id*, name
		users: id*, tenant_id>tenants, email
		comments: id*, tenant_id>tenants, user_id>users, body`), scaffold.Options{SubjectTable: "users"})
	wantLines(t, p.steps(), `
		delete comments
		anonymize users email
	`)
}
