package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

const users = `
	users: id*, email
`

func TestRowsAboutSeveralPeopleHaveAPathToEach(t *testing.T) {
	p := propose(t, schema(users+`
		messages: id*, recipient_id>users, sender_id?>users, body, recipient_name?
		attachments: id*, message_id>messages, description`))
	wantLines(t, p.steps(), `
		anonymize messages via Sender body
		anonymize messages via Recipient recipient_name
		anonymize users email
	`)
	if via := p.column(t, "messages.recipient_name").Personal.Via; via != "Recipient" {
		t.Errorf("recipient_name belongs to %q", via)
	}
	if !slices.Contains(p.asked(), "messages") || !slices.Contains(p.asked(), "attachments") {
		t.Errorf("asked about %v", p.asked())
	}
}

// The texts of a message belong to its sender, whoever else it names.
func TestTheSenderComesBeforeOtherPeople(t *testing.T) {
	for _, columns := range []string{
		"user_id>users, sender_id>users", "user_id, sender_id", "user_id>users, author_id>users",
		"user_id, from_user_id",
	} {
		p := propose(t, schema(users+"messages: id*, "+columns+", body"))
		if via := p.column(t, "messages.body").Personal.Via; via == "User" || via == "" {
			t.Errorf("%s: the text belongs to %q", columns, via)
		}
	}
}

func TestTheRelationToThePersonComesBeforeLongerPaths(t *testing.T) {
	p := propose(t, schema(users+`
		posts: id*, author_id>users, title
		comments: id*, post_id>posts, user_id>users, body`))
	paths := p.dataMap.Paths("comments")
	if len(paths) != 1 || len(paths[0].Relations) != 1 || paths[0].Relations[0].Columns[0] != "user_id" {
		t.Errorf("paths = %v", paths)
	}
	if note := p.column(t, "comments.post_id").Note; !strings.Contains(note, "also leads to a person") {
		t.Errorf("the note of the other relation is %q", note)
	}
}

func TestAPathOverOtherTablesIsFound(t *testing.T) {
	p := propose(t, schema(users+`
		carts: id*, user_id>users, status
		lines: id*, cart_id>carts, product_id>products, gift_message?
		products: id*, name`))
	wantLines(t, p.steps(), `
		delete lines
		delete carts
		anonymize users email
	`)
	if paths := p.dataMap.Paths("lines"); len(paths) != 1 || len(paths[0].Relations) != 2 {
		t.Errorf("paths = %v", paths)
	}
	if _, ok := p.dataMap.Table("products"); ok {
		t.Error("products are in the data map")
	}
}

func TestAPersonThatWorkedOnTheRowIsTheLastChoice(t *testing.T) {
	p := propose(t, schema(users+`
		orders: id*, customer_id>users
		parcels: id*, order_id>orders, packed_by:bigint>users, street
		documents: id*, created_by:bigint>users, updated_by:bigint>users, comment?`),
		scaffold.Options{Include: []string{"parcels", "documents"}})
	if path := p.dataMap.Paths("parcels")[0]; path.Relations[0].Columns[0] != "order_id" {
		t.Errorf("the path of parcels is %v", path)
	}
	if path := p.dataMap.Paths("documents")[0]; path.Relations[0].Columns[0] != "created_by" {
		t.Errorf("the path of documents is %v", path)
	}
	if !slices.Contains(p.asked(), "documents") {
		t.Errorf("asked about %v", p.asked())
	}
}

func TestOneOfSeveralEqualPathsIsChosenAndAsked(t *testing.T) {
	p := propose(t, schema(users+`
		orders: id*, user_id>users
		carts: id*, user_id>users
		order_items: id*, cart_id?>carts, order_id>orders, note?`), scaffold.Options{Include: []string{"order_items"}})
	if path := p.dataMap.Paths("order_items")[0]; path.Relations[0].Columns[0] != "order_id" {
		t.Errorf("the path is %v", path)
	}
	for _, d := range p.Decisions {
		if d.Table == "order_items" && (d.Chosen != "order_id" || !slices.Contains(d.Options, "cart_id")) {
			t.Errorf("asked %v", d)
		}
	}
	if !slices.Contains(p.asked(), "order_items") {
		t.Errorf("asked about %v", p.asked())
	}
}

func TestAnAddressThatRowsOfThingsNameIsLeftOut(t *testing.T) {
	p := propose(t, schema(users+`
		orders: id*, user_id>users, billing_address_id>addresses, shipping_address_id?>addresses
		addresses: id*, street, city
		warehouses: id*, address_id>addresses, phone`))
	wantLines(t, p.steps(), `anonymize users email`)
	if !slices.Contains(p.asked(), "addresses") {
		t.Errorf("asked about %v", p.asked())
	}
}

func TestWhatARowNamesThatAnotherRowNamesIsLeftOut(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email, detail_id!>details
		details: id*, phone, address_id?>postal_addresses
		postal_addresses: id*, street`))
	if _, ok := p.dataMap.Table("details"); !ok {
		t.Error("details are not in the data map")
	}
	if _, ok := p.dataMap.Table("postal_addresses"); ok || !slices.Contains(p.asked(), "postal_addresses") {
		t.Errorf("asked about %v", p.asked())
	}
}

func TestCyclesAreBroken(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email, team_id?>teams, boss_id?>users
		teams: id*, owner_id>users, motto_id?>mottos, email
		mottos: id*, team_id>teams, text, note`), scaffold.Options{Include: []string{"teams", "mottos"}})
	wantLines(t, p.steps(), `
		anonymize mottos note
		anonymize teams email
		anonymize users email
	`)
}

func TestColumnsNamedLikeReferencesAreReferences(t *testing.T) {
	p := propose(t, schema(users+`
		posts: id*, userid:bigint, body
		comments: id*, author_id, post_id, body
		likes: id*, created_by_user_id, post_id:uuid
		reports: id*, title`))
	wantLines(t, p.steps(), `
		anonymize comments body
		anonymize posts body
		anonymize users email
	`)
	if note := p.column(t, "comments.author_id").Note; !strings.Contains(note, "no foreign key") {
		t.Errorf("the note is %q", note)
	}
}

func TestAColumnThatRefersToSeveralTablesIsNotGuessed(t *testing.T) {
	p := propose(t, schema(users+`
		totals: id*, owner_id, owner_type, size:integer`))
	if _, ok := p.dataMap.Table("totals"); ok || !slices.Contains(p.asked(), "totals.owner_id") {
		t.Errorf("the steps are %v, asked about %v", p.steps(), p.asked())
	}
}

func TestANotificationBelongsToItsRecipient(t *testing.T) {
	for _, lines := range []string{
		`notification: id*, from_user_id, to_user_id, message, is_read:boolean`,
		`
			posts: id*, user_id>users, body
			notification: id*, from_user_id, to_user_id, message, is_read:boolean`,
		`notification: id*, from_user_id>users=cascade, to_user_id>users=cascade, message`,
	} {
		p := propose(t, schema(users+lines))
		paths := p.dataMap.Paths("notification")
		if len(paths) != 1 || paths[0].Relations[0].Columns[0] != "to_user_id" {
			t.Errorf("the paths are %v", paths)
		}
		if table, _ := p.dataMap.Table("notification"); !table.Owned {
			t.Errorf("the steps are %v", p.steps())
		}
	}
}

func TestTheOwnerOfATokenIsAReferenceWithoutAForeignKey(t *testing.T) {
	lines := `
		posts: id*, user_id>users, body
		oauth_access_tokens: id*, resource_owner_id?, token`
	p := propose(t, schema(users+lines))
	if !slices.Contains(p.steps(), "delete oauth_access_tokens") {
		t.Errorf("the steps are %v", p.steps())
	}
	lines = strings.NewReplacer("owner_id?", "owner_id:text?", "user_id>", "user_id:uuid>").Replace(lines)
	p = propose(t, schema("users: id:uuid*, email"+lines))
	if !slices.Contains(p.asked(), "oauth_access_tokens.resource_owner_id") {
		t.Errorf("asked about %v", p.asked())
	}
	p = propose(t, schema(users+"posts: id*, user_id>users, body\n\t\tvotes: id*, author_id, ip"))
	if _, ok := p.dataMap.Table("votes"); ok {
		t.Error("author_id is a reference, although the application uses foreign keys")
	}
}

func TestOnlyAKeyOfAPersonMayLeadToSeveralTables(t *testing.T) {
	p := propose(t, schema(`
		users: id:uuid*, email
		phones: id*, user_id:uuid>users, device_id:text, device_type, model
		totals: id*, owner_id:uuid, owner_type, plaid_type`))
	asked := p.asked()
	if slices.Contains(asked, "phones.device_id") || !slices.Contains(asked, "totals.owner_id") {
		t.Errorf("asked about %v", asked)
	}
}

func TestAReferenceToAPartOfAKeyIsNotAPath(t *testing.T) {
	catalog := schema(`
		users: tenant_id*, id*, email
		notes: id*, user_id, text`)
	catalog.Tables[1].ForeignKeys = []datamap.CatalogForeignKey{{
		Columns: []string{"user_id"}, References: "users", Referenced: []string{"id"},
	}}
	p := propose(t, catalog)
	if _, ok := p.dataMap.Table("notes"); ok {
		t.Error("notes are in the data map")
	}
	if !slices.Contains(p.asked(), "notes") {
		t.Errorf("asked about %v", p.asked())
	}
}

func TestAMembershipDoesNotBelongToTheInviter(t *testing.T) {
	p := propose(t, schema(users+"memberships: id*, user_id>users, inviter_id>users"))
	wantLines(t, p.steps(), `
		delete memberships
		anonymize users email
	`)
	p = propose(t, schema(users+"messages: id*, inviter_id>users, body"))
	wantLines(t, p.steps(), `
		delete messages
		anonymize users email
	`)
}

func TestACopyOfAMessageGoesWithItsOwnerAlone(t *testing.T) {
	for line, want := range map[string]int{
		"mails: id*, owner_id>users, from_id>users, to_id>users, subject, body": 1,
		"mails: id*, from_id>users, to_id>users, subject, body":                 2,
		"mails: id*, owner_id>users, from_id>users, subject, body":              2,
	} {
		p := propose(t, schema(users+line))
		if slices.Contains(p.steps(), "delete mails") {
			t.Errorf("%s: the steps are %v", line, p.steps())
		}
		p = propose(t, schema(users+line), scaffold.Options{Include: []string{"mails"}})
		if paths := p.dataMap.Paths("mails"); len(paths) != want {
			t.Errorf("%s: included with %d paths: %v", line, len(paths), p.steps())
		}
	}
}
