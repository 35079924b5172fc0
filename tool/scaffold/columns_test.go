package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestTheStrategyOfAColumn(t *testing.T) {
	catalog := schema(`
		users: id*, email!, backup_email:text(20), login:text(50)!, phone:bigint, birthday:time?, password_hash, api_key?,
			homepage_url, gender:enum(f|m|unknown), religion:enum(a|b), last_ip:inet, mac_address:xml, salary:number,
			bio?, age:integer, nickname:text(5)!, postal_code, public_key_url, locale, theme`)
	checks := map[string]string{
		"age": "CHECK ((age >= 18))", "postal_code": `CHECK ((postal_code ~ '^\d{5}$'::text))`,
		"bio": "CHECK ((bio IS NOT NULL))", "locale": "CHECK ((locale = ANY (ARRAY['de'::text, 'en'::text])))",
	}
	for column, text := range checks {
		catalog.Tables[0].Checks = append(catalog.Tables[0].Checks, datamap.CatalogCheck{
			Name: column + "_check", Columns: []string{column}, Text: text,
		})
	}
	p := proposeWith(t, evaluating(t, catalog), scaffold.Options{})
	var got []string
	for _, c := range p.dataMap.SubjectTable().Columns {
		if c.Personal == nil {
			got = append(got, c.Name+" -")
			continue
		}
		got = append(got, strings.TrimSpace(strings.Join([]string{
			c.Name, string(c.Type), string(c.Personal.Category), string(c.Personal.Strategy),
			string(c.Personal.Export), c.Surrogate,
		}, " ")))
	}
	wantLines(t, got, `
		id -
		email text contact erase  {}@erased.invalid
		backup_email text contact erase
		login text identity erase
		phone bigint contact erase
		birthday time identity erase
		password_hash text technical erase no
		api_key text technical erase no
		homepage_url text contact erase  ''
		gender text identity erase  unknown
		religion text special erase  a
		last_ip text technical erase  0.0.0.0
		mac_address -
		salary number financial erase
		bio text identity erase  ''
		age integer identity erase  18
		nickname text identity erase
		postal_code text contact erase  00000
		public_key_url text contact erase yes ''
		locale text behavioral erase  de
		theme -
	`)
	wantLines(t, p.asked(), `
		users.mac_address
		users.salary
		users.nickname
	`)
}

func TestAColumnInAKeyStays(t *testing.T) {
	p := propose(t, schema(`
		users: email:text*, name
		badges: id*, user_email:text, token!
		uses: id*, badge_token:text`))
	wantLines(t, p.steps(), `anonymize users name`)
	if got := p.asked(); !slices.Contains(got, "users.email") {
		t.Errorf("asked about %v", got)
	}
}

func TestASecretKeyIsNotExported(t *testing.T) {
	p := propose(t, schema(users+`sessions: token:text*, user_id>users, ip`))
	token := p.column(t, "sessions.token")
	if token.Personal == nil || token.Personal.Export != datamap.ExportNo {
		t.Errorf("token is %+v", token)
	}
}

func TestAComputedColumnIsAsked(t *testing.T) {
	catalog := schema("users: id*, first_name, full_name")
	catalog.Tables[0].Columns[2].Generated = true
	p := propose(t, catalog)
	wantLines(t, p.steps(), "anonymize users first_name")
	wantLines(t, p.asked(), "users.full_name")
}

func TestDocumentsAreAsked(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email, traits:json
		orders: id*, user_id>users, street, cart:json`))
	if p.column(t, "users.traits").Personal != nil || p.column(t, "orders.cart").Personal != nil {
		t.Error("documents are overwritten although nobody has said that they are personal")
	}
	wantLines(t, p.asked(), `
		users.traits
		orders
		orders.cart
	`)
}

func TestUniqueValuesStayApart(t *testing.T) {
	catalog := schema("users: id*, phone:bigint, mobile:bigint?, fax:bigint?, email!")
	catalog.Tables[0].Uniques = append(catalog.Tables[0].Uniques,
		datamap.CatalogUnique{Name: "phone_key", Columns: []string{"phone"}},
		datamap.CatalogUnique{Name: "phone_email_key", Columns: []string{"phone", "email"}},
		datamap.CatalogUnique{Name: "phone_mobile_key", Columns: []string{"phone", "mobile"}},
		datamap.CatalogUnique{Name: "fax_key", Columns: []string{"fax"}, NullsEqual: true})
	p := propose(t, catalog)
	var questions []string
	for _, d := range p.Decisions {
		for _, name := range []string{"phone_key", "phone_email_key", "phone_mobile_key", "fax_key"} {
			if strings.Contains(d.Question, name) {
				questions = append(questions, name)
			}
		}
	}
	if !slices.Equal(questions, []string{"phone_key", "fax_key"}) {
		t.Errorf("asked about %v", questions)
	}
}

func TestEachGuessHasItsReasonInANote(t *testing.T) {
	p := propose(t, schema(users+`
		notes: id*, sender_id>users, recipient_id>users, text
		visits: id*, user_id>users, ip`))
	for _, table := range p.dataMap.Tables() {
		if table.Note == "" {
			t.Errorf("%s has no note", table.Name)
		}
		for _, c := range table.Personal() {
			if c.Note == "" {
				t.Errorf("%s.%s has no note", table.Name, c.Name)
			}
		}
	}
	for _, d := range p.Decisions {
		table, _ := p.dataMap.Table(d.Table)
		note := table.Note
		if d.Column != "" {
			note = p.column(t, d.Table+"."+d.Column).Note
		}
		if !strings.Contains(note, d.String()) || !strings.HasPrefix(d.String(), "DECIDE: ") {
			t.Errorf("%q is not in the note %q", d, note)
		}
	}
}

func TestATextByAnotherPersonIsLeft(t *testing.T) {
	p := propose(t, schema(users+`
		comments: id*, author_id>users, body
		group_reports: id*, reporter_id>users, group_id>groups, group_description, original_text, text
		groups: id*, name
		comment_reports: id*, reporter_id>users, comment_id>comments, original_comment_text, text`))
	for _, column := range []string{
		"comment_reports.original_comment_text", "group_reports.group_description", "group_reports.original_text",
	} {
		if p.column(t, column).Personal != nil || !slices.Contains(p.asked(), column) {
			t.Errorf("an erasure overwrites %s, the text of another person", column)
		}
	}
	for _, column := range []string{"comment_reports.text", "group_reports.text"} {
		if p.column(t, column).Personal == nil {
			t.Errorf("an erasure does not overwrite %s", column)
		}
	}
}

func TestValuesThatProgramsParseAreLeftWithAQuestion(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email, locale, time_zone, language?, email_lang, language_code, timezone_name,
			tax_identification_number, metadata, payload, title`))
	for _, column := range []string{
		"locale", "time_zone", "language", "email_lang", "language_code", "timezone_name", "metadata", "payload",
	} {
		if p.column(t, "users."+column).Personal != nil || !slices.Contains(p.asked(), "users."+column) {
			t.Errorf("%s: %+v, asked about %q", column, p.column(t, "users."+column), p.asked())
		}
	}
	if p.column(t, "users.tax_identification_number").Personal == nil {
		t.Error("a tax number is not erased")
	}
}

func TestNoColumnBecomesNULLWithoutAQuestion(t *testing.T) {
	catalog := schema(`
		users: id*, email!?, nick?, bio?, birthday:time?, photo:bytes?, traits:json?, settings?, password_hash?,
			badge:xml?, device_ip:xml?, religion:enum(a|b)?, gender:enum(m|other)?, passport:bigint!?
		comments: id*, user_id>users, parent_id?>comments, body?`)
	p := propose(t, catalog)
	var got []string
	for _, table := range p.dataMap.Tables() {
		for _, c := range table.Personal() {
			got = append(got, c.Name+" "+string(c.Personal.Strategy)+" "+c.Surrogate)
		}
	}
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	wantLines(t, got, `
		email erase {}@erased.invalid
		nick erase
		bio erase ''
		birthday erase
		photo erase
		settings erase {}
		password_hash erase
		device_ip null
		religion null
		gender erase other
		passport null
		body anonymize ''
	`)
	for _, column := range []string{"users.device_ip", "users.religion", "users.passport"} {
		if !slices.Contains(p.asked(), column) {
			t.Errorf("%s becomes NULL without a question", column)
		}
	}
}

func TestTheErasedRowOfAPersonIsKnown(t *testing.T) {
	for lines, want := range map[string]string{
		"users: id*, bio?, first_name, phone": "bio",
		"users: id*, bio?, phone:text(12)?":   "bio",
		"users: id*, first_name, email!":      "email",
		"users: id*, bio, username":           "username",
	} {
		p := propose(t, schema(lines))
		var marking []string
		for _, c := range p.dataMap.SubjectTable().Columns {
			if c.Personal != nil && c.Unique() {
				marking = append(marking, c.Name)
			}
		}
		if !slices.Equal(marking, []string{want}) {
			t.Errorf("%s: the surrogates of %v are distinctive", lines, marking)
		}
	}
}

func TestAnEmailAddressStaysOne(t *testing.T) {
	p := propose(t, schema("users: id*, email_addr, email_hash"))
	if got := p.column(t, "users.email_addr").Surrogate; got != "{}@erased.invalid" {
		t.Errorf("the surrogate is %q", got)
	}
}

func TestAKeyThatPeopleChooseIsAsked(t *testing.T) {
	p := propose(t, schema(`
		users: username:text*, email
		posts: id*, author:text>users, body`))
	var questions []string
	for _, d := range p.Decisions {
		if d.Column == "username" {
			questions = append(questions, d.Question)
		}
	}
	if len(questions) != 1 || !strings.Contains(questions[0], "audit trail") {
		t.Errorf("asked %q", questions)
	}
	p = propose(t, schema("users: id:uuid*, email"))
	if slices.Contains(p.asked(), "users.id") {
		t.Error("asked about a key that nobody chooses")
	}
}

func TestAListOfValuesIsNoText(t *testing.T) {
	for check, want := range map[string]bool{
		"CHECK (comment = ANY (ARRAY['g'::text, 'pg'::text]))": false,
		"comment IN ('g', 'pg')":                               false,
		"CHECK (length(comment) < 100)":                        true,
	} {
		catalog := schema("users: id*, email, comment")
		catalog.Tables[0].Checks = []datamap.CatalogCheck{{Name: "one", Columns: []string{"comment"}, Text: check}}
		mapped, _ := propose(t, catalog).dataMap.Table("users")
		if column, _ := mapped.Column("comment"); (column.Personal != nil) != want {
			t.Errorf("%s: %+v", check, column.Personal)
		}
	}
}

func TestANameWithoutWordsIsAccepted(t *testing.T) {
	p := propose(t, schema(users+`
		_: id*, _
		2024: id*, user_id>users, street, _, 2024, email?`))
	if len(p.steps()) == 0 {
		t.Error("no step")
	}
}
