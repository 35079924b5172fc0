package scaffold_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestTheSubjectTableIsFound(t *testing.T) {
	for name, test := range map[string]struct{ schema, want string }{
		"users": {`
			users: id*, email!
			posts: id*, user_id>users
			tags: id*, name`, "users"},
		"a prefix and a schema": {`
			app.auth_user: id*, email, password
			app.posts: id*, user_id>app.auth_user`, "app.auth_user"},
		"German": {`
			kunden: id*, vorname, nachname, emailadresse
			bestellungen: id*, kunden_id>kunden`, "kunden"},
		"accounts with one user each": {`
			accounts: id*, username!, display_name
			users: id*, account_id!>accounts, email, password
			statuses: id*, account_id>accounts
			follows: id*, account_id>accounts`, "accounts"},
		"users of accounts": {`
			accounts: id*, name, billing_email
			projects: id*, account_id>accounts
			users: id*, account_id>accounts, email, password, first_name, last_name
			comments: id*, user_id>users, body
			sessions: id*, user_id>users, token`, "users"},
		"accounts at providers": {`
			users: id*, name, email!
			accounts: id*, user_id>users, refresh_token, access_token, password
			posts: id*, author_id>users`, "users"},
		"people that users invite": {`
			users: id*, name, email!
			polls: id*, user_id>users, title
			participants: id*, poll_id>polls, user_id?>users=set_null, name, email
			space_member_invites: id*, inviter_id>users, email
			team_member_invites: id*, inviter_id>users, email
			contact_invitations: id*, inviter_id?>users=set_null, email`, "users"},
		"no foreign keys": {`
			users: id*, username, email
			posts: id*, userid:bigint, message
			sessions: id*, userid:bigint, token`, "users"},
	} {
		t.Run(name, func(t *testing.T) {
			p := propose(t, schema(test.schema))
			if got := p.dataMap.SubjectTable().Name; got != test.want || p.Candidates[0].Table != got {
				t.Errorf("got %s of %v", got, p.Candidates)
			}
			if p.Candidates[0].Reason == "" {
				t.Error("there is no reason")
			}
		})
	}
}

func TestAnUndecidedSubjectTableIsAnError(t *testing.T) {
	for name, test := range map[string]struct {
		schema, subject string
		want            []string
	}{
		"no people": {"products: id*, price", "", []string{"must be given"}},
		"people of two kinds": {`
			users: id*, email, password, name
			subscribers: id*, email, name
			deliveries: id*, subscriber_id>subscribers`, "", []string{"several tables", "users (", "subscribers ("}},
		"equals": {`
			customer: id*, first_name, last_name, email
			staff: id*, first_name, last_name, email, username
			rental: id*, customer_id>customer, staff_id>staff`, "", []string{"staff (", "customer ("}},
		"a table that is not there": {"users: id*, email", "members", []string{"is not a table", "users ("}},
		"a table without a key":     {"users: email", "users", []string{"has no key"}},
		"a key of another type":     {"users: id:json*, email", "users", []string{"has no key"}},
		"a key that can be NULL":    {"users: number?!, email", "users", []string{"has no key"}},
	} {
		t.Run(name, func(t *testing.T) {
			options := scaffold.Options{SubjectTable: test.subject}
			_, err := scaffold.Propose(t.Context(), memory.NewSchema(schema(test.schema)), options)
			if !errors.Is(err, domain.ErrInvalid) {
				t.Fatalf("got %v", err)
			}
			for _, want := range append(test.want, "subject_table") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %v", want, err)
				}
			}
		})
	}
}

func TestAnEmptyDatabaseIsAnErrorWithTheRemedy(t *testing.T) {
	_, err := scaffold.Propose(t.Context(), memory.NewSchema(datamap.Catalog{}), scaffold.Options{})
	if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), "has no tables") ||
		!strings.Contains(err.Error(), "migrations") {
		t.Errorf("got %v", err)
	}
}

func TestAnUnsuitableKeyIdentifiesNobody(t *testing.T) {
	for name, change := range map[string]func(*datamap.CatalogTable){
		"some rows":       func(t *datamap.CatalogTable) { t.Uniques[0].Partial = true },
		"expressions":     func(t *datamap.CatalogTable) { t.Uniques[0].Expressions = true },
		"an exclusion":    func(t *datamap.CatalogTable) { t.Uniques[0].Exclusion = true },
		"a foreign table": func(t *datamap.CatalogTable) { t.Kind = datamap.KindForeign },
		"a child":         func(t *datamap.CatalogTable) { t.Inherits = []string{"people"} },
	} {
		catalog := schema("users: email, name")
		catalog.Tables[0].Uniques = []datamap.CatalogUnique{{Name: "u", Columns: []string{"email"}}}
		change(&catalog.Tables[0])
		_, err := scaffold.Propose(t.Context(), memory.NewSchema(catalog), scaffold.Options{SubjectTable: "users"})
		if err == nil || !strings.Contains(err.Error(), "has no key that can identify") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSubjectTableCanBeNamed(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email
		customers: id*, email`), scaffold.Options{SubjectTable: "customers"})
	if p.dataMap.SubjectTable().Name != "customers" || len(p.Candidates) != 1 {
		t.Errorf("got %v", p.Candidates)
	}
}

func TestTheSubjectKeyHasASuitableType(t *testing.T) {
	catalog := schema("users: id:bytes*, email!, nick?!")
	p := propose(t, catalog)
	if key := p.dataMap.SubjectTable().SubjectKey; len(key) != 1 || key[0] != "email" {
		t.Errorf("the subject's key is %v", key)
	}
	catalog = schema("users: tenant_id*, id*, email")
	p = propose(t, catalog)
	if key := p.dataMap.SubjectTable().SubjectKey; strings.Join(key, ",") != "tenant_id,id" {
		t.Errorf("the subject's key is %v", key)
	}
}
