package names_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

func TestNamesOfPersonalData(t *testing.T) {
	for column, want := range map[string]domain.Category{
		"users.email":                   domain.CategoryContact,
		"users.Email":                   domain.CategoryContact,
		"users.useremail":               domain.CategoryContact,
		"orders.billing_email":          domain.CategoryContact,
		"kunden.emailadresse":           domain.CategoryContact,
		"users.phoneNumber":             domain.CategoryContact,
		"kunden.lieferstrasse":          domain.CategoryContact,
		"kunden.Straße":                 domain.CategoryContact,
		"utilisateurs.prénom":           domain.CategoryIdentity,
		"usuarios.apellidos":            domain.CategoryIdentity,
		"kunden.geburtsdatum time":      domain.CategoryIdentity,
		"users.birthday time":           domain.CategoryIdentity,
		"users.dob time":                domain.CategoryIdentity,
		"users.firstname":               domain.CategoryIdentity,
		"users.name":                    domain.CategoryIdentity,
		"shop.users.name":               domain.CategoryIdentity,
		"app_users.name":                domain.CategoryIdentity,
		"orders.customer_name":          domain.CategoryIdentity,
		"users.gender smallint":         domain.CategoryIdentity,
		"patients.blood_type":           domain.CategorySpecial,
		"patients.pregnant boolean":     domain.CategorySpecial,
		"mitglieder.konfession":         domain.CategorySpecial,
		"invoices.iban":                 domain.CategoryFinancial,
		"employees.salary number":       domain.CategoryFinancial,
		"sessions.ip":                   domain.CategoryTechnical,
		"users.ip_address":              domain.CategoryTechnical,
		"anything.remote_addr":          domain.CategoryTechnical,
		"logins.user_agent":             domain.CategoryTechnical,
		"users.device_id":               domain.CategoryTechnical,
		"users.password":                domain.CategoryTechnical,
		"users.salt":                    domain.CategoryTechnical,
		"api_keys.key":                  domain.CategoryTechnical,
		"users.last_login_at time":      domain.CategoryBehavioral,
		"users.sign_in_count integer":   domain.CategoryBehavioral,
		"audit_log.details json":        domain.CategoryBehavioral,
		"messages.body":                 domain.CategoryCommunication,
		"posts.content":                 domain.CategoryCommunication,
		"diary_entries.body":            domain.CategoryCommunication,
		"users.auth_uid":                domain.CategoryTechnical,
		"users.webauthn_id":             domain.CategoryTechnical,
		"profiles.encrypted_pii":        domain.CategoryIdentity,
		"users.last_request_at time":    domain.CategoryBehavioral,
		"users.user_handle":             domain.CategoryTechnical,
		"passkeys.user_handle":          domain.CategoryTechnical,
		"sign_ups.other_special_needs":  domain.CategorySpecial,
		"guests.dietary_requirements":   domain.CategorySpecial,
		"sign_ups.accessibility_needs":  domain.CategorySpecial,
		"users.accessibility":           domain.CategorySpecial,
		"handshakes.claims json":        domain.CategoryIdentity,
		"id_documents.jwt json":         domain.CategoryTechnical,
		"user_tokens.sent_to":           domain.CategoryContact,
		"users.auth0_id":                domain.CategoryTechnical,
		"users.openid_connect_id":       domain.CategoryTechnical,
		"users.keycloakId":              domain.CategoryTechnical,
		"users.google_sub":              domain.CategoryTechnical,
		"users.gh_id bigint":            domain.CategoryTechnical,
		"users.slack_user_id":           domain.CategoryTechnical,
		"users.sub":                     domain.CategoryTechnical,
		"users.external_id bigint":      domain.CategoryTechnical,
		"employees.tax_no":              domain.CategoryFinancial,
		"employees.national_no":         domain.CategoryIdentity,
		"employees.full_nm":             domain.CategoryIdentity,
		"users.last_sign_time time":     domain.CategoryBehavioral,
		"members.last_activity_at time": domain.CategoryBehavioral,
		"memberships.last_active time":  domain.CategoryBehavioral,
		"users.thirdPartyId":            domain.CategoryTechnical,
		"Account.providerAccountId":     domain.CategoryTechnical,
		"VerificationToken.identifier":  domain.CategoryContact,
		"verification.identifier":       domain.CategoryContact,
		"stops.latitude number":         domain.CategoryLocation,
		"profiles.city":                 domain.CategoryContact,
		"customers.zip integer":         domain.CategoryContact,
		"customers.national_id":         domain.CategoryIdentity,
		"customers.address1":            domain.CategoryContact,
		"customers.stripe_customer_id":  domain.CategoryFinancial,
		"users.customer_id":             domain.CategoryFinancial,
		"users.last_4_digits":           domain.CategoryFinancial,
	} {
		if got, reason, ok := guess(column); !ok || got != want || reason == "" {
			t.Errorf("%s: %q (%q), want %q", column, got, reason, want)
		}
	}
}

func TestNamesOfOtherData(t *testing.T) {
	for _, column := range []string{
		"users.id", "users.email_verified boolean", "users.email_verified", "users.email_confirmed_at time",
		"users.email_id bigint", "users.created_at time", "countries.name", "products.name", "roles.name", "teams.name",
		"email_templates.body", "products.description", "settings.key", "translations.key", "files.content_hash",
		"files.hash", "comments.count integer", "users.phone_type", "users.password_changed_at time", "orders.total number",
		"users.sub_plan", "users.sub_total number", "products.external_id", "websites.sub", "orders.state",
		"products.price number", "photos.width integer", "keys.public_key", "tokens.token_type",
		"users.is_active boolean", "users.role", "users.status", "pages.title", "users.stage", "teams.message_count integer",
		"pipelines.branch", "addressables.kind", "users.avatar_id bigint",
		"users.customer_id bigint", "customers.customer_id", "orders.customer_id", "users.token_hint", "links.webauthn_id",
		"policies.claims integer", "users.accessibility_mode", "pictures.accessibility_label",
		"discussions.last_activity_at time", "rooms.last_active time",
	} {
		if got, reason, ok := guess(column); ok {
			t.Errorf("%s: %s, because %s", column, got, reason)
		}
	}
}

func TestNamesOfSecrets(t *testing.T) {
	for _, name := range []string{"password_method", "forgot_password_methods", "password_policies"} {
		if m, ok := names.Find("users", name, datamap.TypeText); ok {
			t.Errorf("%s is recognised by %s", name, m.Word)
		}
	}
	for column, want := range map[string]bool{
		"users.password": true, "users.passwd": true, "users.pw": true, "users.encrypted_password bytes": true,
		"users.salt":    true,
		"users.api_key": true, "users.apiKey": true, "sessions.token": true, "users.otp_secret": true,
		"users.password_hint": true, "users.security_stamp": true,
		"kunden.passwort_hash": true, "users.hash": true, "sessions.key": true, "users.mfa_recovery_codes array": true,
		"users.email": false, "users.public_key": false, "files.hash": false, "users.token_id bigint": false,
		"users.password_count integer": false, "posts.private_message": false,
		"user_backup_codes.code bigint": true, "country_codes.code": false, "security_answers.answer": false,
		"users.tfa json": true, "users.tfa": false, "users.remember_digest": true, "files.digest": false,
		"tickets.validation_code": false,
	} {
		table, name, t1 := split(column)
		if got, _ := names.Find(table, name, t1); got.Secret != want {
			t.Errorf("%s: secret is %v", column, got.Secret)
		}
	}
}

func TestKindsOfTables(t *testing.T) {
	for table, want := range map[string]names.Kind{
		"users": names.People, "app.users": names.People, "auth_user": names.People, "Kunden": names.People,
		"people": names.People, "user_profiles": names.People, "profiles": names.People,
		"Person": names.People, "companies_customers": names.People,
		"user_addresses": names.Addresses, "lieferadressen": names.Addresses, "messages": names.Messages,
		"user_sessions": names.Sessions, "access_tokens": names.Sessions, "audit_logs": names.Activities,
		"invoices": names.Duties, "rechnungen": names.Duties, "countries": names.Reference, "user_roles": names.Reference,
		"schema_migrations": names.Machinery, "orgs": names.Groups, "newsletters": names.Mailings,
	} {
		if !names.Is(table, want) {
			t.Errorf("%s is not among the %s", table, want)
		}
	}
	for _, table := range []string{
		"user_roles", "user_settings", "teams", "usage", "device_profiles", "assetProfile", "tenant_profile",
		"oauth2_clients",
	} {
		if names.IsPeople(table) {
			t.Errorf("%s is among the people", table)
		}
	}
}

func TestRoles(t *testing.T) {
	for column, want := range map[string]names.Role{
		"user_id": names.Holder, "userId": names.Holder, "userid": names.Holder, "sender_id": names.Holder,
		"customer_uuid": names.Holder, "author": names.Holder, "recipient_id": names.Party, "to_user_id": names.Party,
		"from_user_id": names.Holder, "in_reply_to_account_id": names.Party, "boosted_account_id": names.Party,
		"created_by_user_id": names.Maker, "auth_user_id": names.Holder, "target_account_id": names.Party,
		"assigned_to": names.Party, "created_by": names.Maker, "creatorid": names.Maker, "updated_by_id": names.Maker,
		"granter_id": names.Maker, "grantor_id": names.Maker, "revoker_id": names.Maker,
		"revoke_user_id": names.Maker, "overrideUserId": names.Maker, "revoked_user_id": names.Party,
		"parent_user_id": names.Maker, "parent_id": names.Party,
		"post_id": names.Other, "id": names.Other, "country": names.Other,
	} {
		if got := names.RoleOf(column); got != want {
			t.Errorf("%s: %d, want %d", column, got, want)
		}
	}
}

func TestNamesOfPeopleByTheirRole(t *testing.T) {
	for _, column := range []string{"written_by", "student_name", "voterName", "author", "created_by", "sender_name"} {
		if !names.MeansPerson(column) {
			t.Errorf("%s names no person", column)
		}
	}
	for _, column := range []string{"name", "file_name", "order_by", "title", "student"} {
		if names.MeansPerson(column) {
			t.Errorf("%s names a person", column)
		}
	}
	for column, want := range map[string]bool{"author_id": true, "autor": true, "owner_id": false, "user_id": false} {
		if names.Writes(column) != want {
			t.Errorf("%s: the author is %t", column, !want)
		}
	}
}

func TestTheStateOfASessionIsNoAddress(t *testing.T) {
	for column, want := range map[string]bool{
		"state": true, "home_state": true, "session_state": false,
	} {
		if _, ok := names.Find("account", column, "text"); ok != want {
			t.Errorf("%s looks personal: %t", column, ok)
		}
	}
}

func TestTheRolesInANotification(t *testing.T) {
	for _, column := range []string{"to_user_id", "recipient_id", "toUserId", "receiver"} {
		if !names.Receives(column) || names.Sends(column) {
			t.Errorf("%s does not mean the recipient", column)
		}
	}
	for _, column := range []string{"from_user_id", "sender_id", "fromUserId"} {
		if !names.Sends(column) || names.Receives(column) {
			t.Errorf("%s does not mean the sender", column)
		}
	}
	if names.Sends("user_id") || names.Receives("user_id") {
		t.Error("user_id means a sender or a recipient")
	}
}

func TestStems(t *testing.T) {
	for column, want := range map[string]string{
		"sender_id": "sender", "senderId": "sender", "senderid": "sender", "user_uuid": "user", "useruuid": "user",
		"post_ref": "post", "userUid": "user", "userUuid": "user",
		"id": "", "uuid": "", "href": "", "squid": "squ", "created_by": "",
	} {
		if got, ok := names.Stem(column); ok != (want != "") || ok && got != want || !ok && got != column {
			t.Errorf("%s: %q, %v; want %q", column, got, ok, want)
		}
	}
	if !names.Same("order_items", "OrderItem") || names.Same("order", "orderer") {
		t.Error("names are not compared by their words")
	}
	if !names.EndsIn("target_account", "accounts") || names.EndsIn("accounting", "accounts") {
		t.Error("the ends of names are not compared by their words")
	}
	if !names.IsRole("sender") || !names.IsRole("created_by") || names.IsRole("in_reply_to") || names.IsRole("user") {
		t.Error("the roles of people are not distinguished")
	}
}

func TestTheSingularOfAPlural(t *testing.T) {
	for plural, want := range map[string]string{
		"users": "user", "addresses": "address", "companies": "company", "statuses": "status", "status": "status",
		"people": "person", "boxes": "box", "batches": "batch", "news": "news", "classes": "class", "user": "user", "s": "s",
	} {
		if got := names.Singular(plural); got != want {
			t.Errorf("singular of %s is %s, want %s", plural, got, want)
		}
	}
}

func TestTheLastWordTellsADocument(t *testing.T) {
	for name, is := range map[string]bool{
		"userSettings": true, "meta_data": true, "settings_page": false, "_": false, "": false,
	} {
		if names.IsDocument(name) != is {
			t.Errorf("%q", name)
		}
	}
}

func TestAStatusIsNoPartOfAnAddress(t *testing.T) {
	for column, want := range map[string]bool{
		"subscription_state": true, "state": false, "billing_state": false, "addr_state": false, "status": false,
	} {
		if names.IsStatus(column) != want {
			t.Errorf("%s: want %v", column, want)
		}
	}
}
