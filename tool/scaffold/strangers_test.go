package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// An erasure with the untouched draft must not change the rows of these tables: they may be things, secrets of others,
// rows about other people or copies of their rows.
func TestRowsThatMayBeOfOthersStayAsTheyAre(t *testing.T) {
	const things = "organizations: id*, name\nprojects: id*, name\nclinics: id*, name\nplaces: id*, name\n"
	for _, lines := range []string{
		"organization_authentications: id*, user_id>users, organization_id>organizations, client_secret, provider",
		"domain_authentications: id*, user_id>users, domain, dkim_key",
		"sender_authentications: id*, user_id>users, domain, dkim_selector",
		"api_authentications: id*, user_id>users, project_id>projects, secret",
		"edits: id*, user_id>users, record_type, record_id, old_value, new_value",
		"comments: id*, user_id>users, body, table_name, entity_id, old_data:json",
		"corrections: id*, user_id>users, item_type, item_id, old_attributes:json",
		"price_adjustments: id*, user_id>users, entity, entity_id, previous_value",
		"versions: id*, userid>users, itemtype, itemid, object:json",
		"revisions: id*, userid>users, itemtype, itemid, body, changes",
		"entries: id*, userid>users, targettype, targetid, content, diff",
		"customer_details: id*, user_id>users, name, email, phone",
		"customer_details: id*, user_id>users, clinic_id>clinics, name, email, phone",
		"member_data: id*, user_id>users, member_name, phone",
		"user_information: id*, user_id>users, place_id!>places",
		"company_profiles: id*, user_id>users, name, description, url, address\n" +
			"jobs: id*, company_profile_id>company_profiles, title",
		"seats: id*, owner_id, project_id, user:bigint",
		"grants: id*, owner_id, project_id, user:bigint",
		"account_subscriptions: id*, account_id, user_id!>users, plan, billing_email, company, stripe_customer_id",
		"user_customers: id*, user_id!>users, billing_email, vat_number, plan, paid_by_id",
		"user_data: id*, creator_id!>users, stripe_customer_id, phone",
		"user_data: id*, user_id!>users, paid_by_id, stripe_customer_id, phone",
		"archived_customers: id*, user_id>users, item_type, item_id, data:json, ip",
		"machine_changelogs: id*, user_id>users, title, item_type, item_id, fields:json, device_name",
		"authentications: id*, user_id>users, team_id, provider, uid, client_secret",
		"authentications: id*, user_id>users, authenticatable_type, authenticatable_id, provider, uid, client_secret",
		"orgs: id*, user_id>users, author_id>users, kind",
		"orders: id*, user_id>users, quote_by, photo_by",
		"machine_changes: id*, user_id>users, place_id>places, item_type, item_id, device_name, user_agent",
	} {
		p := propose(t, schema(users+things+lines))
		table := schema(lines).Tables[0].Name
		if slices.ContainsFunc(p.plan.Steps, func(step datamap.Step) bool { return step.Target == table }) {
			t.Errorf("%s: the steps are %v", lines, p.steps())
		}
	}
}

func TestRowsOfTwoPeopleStay(t *testing.T) {
	for _, lines := range []string{
		"reviews: id*, user_id, author:bigint, body\nposts: id*, user_id, body",
		"notes: id*, user_id, owner:bigint, body",
		"entries: id*, user_id, author:bigint, content",
		"sessions: id*, user_id, owner:bigint, token",
	} {
		p := propose(t, schema("users: id*, email, name\n"+lines))
		if table := schema(lines).Tables[0].Name; slices.Contains(p.steps(), "delete "+table) {
			t.Errorf("%s: the steps are %v", lines, p.steps())
		}
	}
}

// Two references to people do not make a table a link that is named after two tables.
func TestANoteAboutAPersonStaysWithoutItsAuthor(t *testing.T) {
	p := propose(t, schema("members: id*, email, password\nmember_notes: id*, author_id, member_id, note"))
	if slices.Contains(p.steps(), "delete member_notes via Author") || slices.Contains(p.steps(), "delete member_notes") {
		t.Errorf("the steps are %v", p.steps())
	}
}

// The owner of a ticket works on what its sender has written, and a notice of one person to another is about both.
func TestRowsWithASenderAndARecipientAreOfBoth(t *testing.T) {
	for line, want := range map[string]string{
		"tickets: id*, owner_id>users, sender_id>users, recipient_id>users, body": "anonymize tickets via Sender body",
		"user_notifications: id*, sender_id>users, recipient_id>users, body":      "",
		"user_alerts: id*, sender_id>users, recipient_id>users, body":             "",
	} {
		p := propose(t, schema(users+line))
		table := schema(line).Tables[0].Name
		got := slices.DeleteFunc(p.steps(), func(step string) bool { return !strings.Contains(step, table) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s: the steps are %v", line, got)
		}
	}
}

// The rows of a shop's customer may name the clerk.
func TestRowsNamedAfterOtherPeopleStay(t *testing.T) {
	for _, table := range []string{"shop_customer_profiles", "shop_customer_addresses", "shop_customer_logins"} {
		p := propose(t, schema("users: id*, email, password\nshop_customers: id*, name, email\n"+
			table+": id*, customer_id, user_id, street, phone, token"), scaffold.Options{SubjectTable: "users"})
		if _, mapped := p.dataMap.Table(table); mapped {
			t.Errorf("the steps are %v", p.steps())
		}
	}
}

// The words for secrets of people mean the code of a thing in other tables.
func TestTheCodeOfAThingDeletesNothing(t *testing.T) {
	for _, line := range []string{
		"devices: id*, user_id>users, name, validation_code",
		"receipts: id*, user_id>users=cascade, validation_code, total:number, created_at:time",
		"devices: id*, user_id>users, name, tfa:json",
	} {
		p := propose(t, schema(users+line))
		name, _, _ := strings.Cut(line, ":")
		if _, isMapped := p.dataMap.Table(name); isMapped || !slices.Contains(p.asked(), name) {
			t.Errorf("%s: the steps are %v", line, p.steps())
		}
	}
}
