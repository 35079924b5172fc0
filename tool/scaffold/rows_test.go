package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestRowsThatBelongToThePersonAreDeleted(t *testing.T) {
	p := propose(t, schema(users+`
		user_settings: user_id*>users, theme
		UserBadge: id*, userId>users, badge
		sessions: id*, user_id>users, token, ip
		oauth_tokens: id*, resource_owner_id>users, app_id>apps, token
		apps: id*, name
		follows: follower_id*>users, followee_id*>users, created_at:time
		group_users: group_id*>groups, user_id*>users, role
		groups: id*, name
		searches: id*, user_id>users, query
		search_hits: id*, search_id>searches, position:integer`))
	wantLines(t, p.steps(), `
		delete UserBadge
		delete follows via Follower
		delete follows via Followee
		delete group_users
		delete oauth_tokens
		delete search_hits
		delete searches
		delete sessions
		delete user_settings
		anonymize users email
	`)
	if got := p.asked(); !slices.Equal(got, []string{"users", "searches"}) {
		t.Errorf("asked about %v", got)
	}
}

func TestWhoHasWorkedOnALinkDoesNotTakeItAway(t *testing.T) {
	p := propose(t, schema(users+`
		user_grants: id*, user_id>users, granter_id>users, revoker_id?>users, granted_at:time`))
	wantLines(t, p.steps(), `
		delete user_grants
		anonymize users email
	`)
	if paths := p.dataMap.Paths("user_grants"); len(paths) != 1 || paths[0].Relations[0].Columns[0] != "user_id" {
		t.Errorf("the paths are %v", paths)
	}
}

func TestRowsStayIfRowsOfOthersReferToThem(t *testing.T) {
	for name, test := range map[string]struct{ schema, want string }{
		"others have replied": {`
			posts: id*, user_id>users, body
			comments: id*, user_id>users, post_id>posts=cascade, body`, `
			anonymize comments body
			anonymize posts body
			anonymize users email`},
		"replies of others in the same table": {`
			posts: id*, user_id>users, parent_id?>posts, body`, `
			anonymize posts body
			anonymize users email`},
		"the database would clear the references of others": {`
			posts: id*, user_id>users, parent_id?>posts=set_null, body
			pins: id*, board_id, post_id?>posts=set_null`, `
			anonymize posts body
			anonymize users email`},
		"a table without a key": {`
			posts: id*, user_id>users, body
			views: post_id>posts, ip`, `
			anonymize posts body
			anonymize users email`},
		"the person's row names it": {`
			users: id*, email, session_id?>sessions
			sessions: id*, user_id>users, user_agent`, `
			anonymize sessions user_agent
			anonymize users email`},
	} {
		t.Run(name, func(t *testing.T) {
			lines := users + test.schema
			if strings.Contains(test.schema, "users: ") {
				lines = test.schema
			}
			wantLines(t, propose(t, schema(lines)).steps(), test.want)
		})
	}
}

func TestRecordsUnderADutyAreRetained(t *testing.T) {
	p := propose(t, schema(users+`
		invoices: id*, user_id>users, billing_name, street?, iban, card_token, note?, n:number, paid_at:time?, issued_on:time
		payments: id*, invoice_id>invoices, payer?`), scaffold.Options{Include: []string{"payments"}})
	wantLines(t, p.steps(), `
		retain payments payer
		retain invoices billing_name street iban
		anonymize users email
	`)
	name := p.column(t, "invoices.billing_name").Personal
	if name.Reason == "" || name.Since != "issued_on" || name.Retain.String() != "10y" ||
		name.From != datamap.FromYearEnd {
		t.Errorf("billing_name is retained as %+v", name)
	}
	if payer := p.column(t, "payments.payer").Personal; payer.Since != "" || !payer.Retain.IsZero() {
		t.Errorf("payer is retained as %+v", payer)
	}
	if got := p.asked(); !slices.Equal(got, []string{"invoices", "invoices.card_token", "invoices.note", "payments"}) {
		t.Errorf("asked about %v", got)
	}
	if table, _ := p.dataMap.Table("invoices"); !strings.Contains(table.Note, "How long") {
		t.Errorf("the note is %q", table.Note)
	}
}

func TestTablesAreLeftOutWithAReason(t *testing.T) {
	catalog := schema(users + `
		countries: id*, name
		flags: id*, user_id>users, color
		leads: id*, email
		logs: email, user_id>users
		user_names: id*, name
		people_search: id*, name
		api_keys: id*, owner_id, owner_type, hashed_key`)
	catalog.Tables[5].Kind, catalog.Tables[6].Kind = datamap.KindView, datamap.KindVirtual
	p := propose(t, catalog)
	var got []string
	for _, out := range p.LeftOut {
		got = append(got, out.Table+": "+out.Reason)
	}
	wantLines(t, got, `
		api_keys: No relation leads from it to users, and none of its columns looks personal.
		countries: No relation leads from it to users, and none of its columns looks personal.
		leads: No relation leads from it to users, but columns look personal: email.
		logs: It has no key of NOT NULL columns.
		people_search: It is a virtual table, which an erasure does not change.
	`)
	if asked := p.asked(); !slices.Equal(asked, []string{"api_keys.owner_id", "flags", "leads", "logs"}) {
		t.Errorf("asked about %v", asked)
	}
}

func TestATableWithoutAPrimaryKeyIsFoundByAUniqueOne(t *testing.T) {
	catalog := schema(users + `
		visits: number:bigint!, nick?!, user_id>users, ip`)
	p := propose(t, catalog)
	if table, _ := p.dataMap.Table("visits"); len(table.PrimaryKey) != 1 || table.PrimaryKey[0] != "number" {
		t.Errorf("the key is %v", table.PrimaryKey)
	}
}

func TestAProposalThatErasesNothingAsks(t *testing.T) {
	asked := propose(t, schema("users: id*, created")).asked()
	if !slices.Equal(asked, []string{"users"}) {
		t.Errorf("asked about %v", asked)
	}
}

func TestTheConfigurationOfAUserIsDeleted(t *testing.T) {
	for _, table := range []string{"user_configs", "encrypted_user_configs", "user_settings"} {
		p := propose(t, schema(users+table+": id*, user_id>users, key, value"))
		if to, ok := p.dataMap.Table(table); !ok || !to.Owned {
			t.Errorf("%s is left out: %v", table, p.LeftOut)
		}
	}
}
