package dictionary_test

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

const (
	text    = datamap.TypeText
	number  = datamap.TypeBigInt
	instant = datamap.TypeTime
	flag    = datamap.TypeBoolean
)

func TestTheFileHasAtMost300Words(t *testing.T) {
	content, err := os.ReadFile("dictionary.txt")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.FieldsFunc(string(content), func(r rune) bool { return !unicode.IsLetter(r) })); n > 300 {
		t.Errorf("the file has %d words", n)
	}
}

func TestTheNameOfAColumnSuggestsItsCategory(t *testing.T) {
	const contact, identity, none = domain.CategoryContact, domain.CategoryIdentity, domain.Category("")
	for _, test := range []struct {
		column          string
		holds           datamap.ColumnType
		column1, person domain.Category
	}{
		{"email", text, contact, contact},
		{"Emails", text, contact, contact},
		{"workEmail", text, contact, contact},
		{"email_verified", flag, none, none},
		{"email_verified_at", instant, none, none},
		{"email_id", text, none, none},
		{"phone_type", text, none, none},
		{"phone", number, none, none},
		{"postal_code", text, contact, contact},
		{"first_name", text, identity, identity},
		{"FirstName", text, identity, identity},
		{"firstname", text, identity, identity},
		{"author_name", text, identity, identity},
		{"file_name", text, none, identity},
		{"name", text, none, identity},
		{"city", text, none, identity},
		{"city_id", number, none, none},
		{"birthday", instant, identity, identity},
		{"birth_year", number, identity, identity},
		{"iban", text, "financial", "financial"},
		{"latitude", datamap.TypeNumber, "location", "location"},
		{"ip", "", "technical", "technical"},
		{"last_login", instant, "behavioral", "behavioral"},
		{"last_login", text, none, identity},
		{"login_count", number, none, none},
		{"message_body", text, "communication", "communication"},
		{"password_hash", text, "technical", "technical"},
		{"api_key", text, none, "technical"},
		{"reset_token", datamap.TypeUUID, "technical", "technical"},
		{"token_id", number, none, none},
		{"allergies", text, "special", "special"},
		{"position", number, none, none},
		{"", text, none, none},
		{"__", text, none, none},
	} {
		got, ok := dictionary.Column(test.column, test.holds)
		if got.Category != test.column1 || ok != (test.column1 != "") {
			t.Errorf("%s %s: got %+v, %t", test.column, test.holds, got, ok)
		}
		got, ok = dictionary.Person(test.column, test.holds)
		if got.Category != test.person || ok != (test.person != "") {
			t.Errorf("%s %s of a person: got %+v, %t", test.column, test.holds, got, ok)
		}
		if isSecret := test.person == "technical" && test.column != "ip"; got.Secret != isSecret || got.Closes != isSecret {
			t.Errorf("%s: got %+v", test.column, got)
		}
	}
}

func TestColumnsThatCloseAnAccount(t *testing.T) {
	for _, test := range []struct {
		column string
		holds  datamap.ColumnType
		want   dictionary.Closing
	}{
		{"password_hash", text, dictionary.Password},
		{"encrypted_password", text, dictionary.Password},
		{"sessions", datamap.TypeJSON, dictionary.Session},
		{"remember_token", text, dictionary.Session},
		{"accesstoken", text, dictionary.Session},
		{"api_key", text, dictionary.Session},
		{"status", text, dictionary.State},
		{"is_active", flag, dictionary.State},
		{"deleted_at", instant, dictionary.End},
		{"blocked", flag, dictionary.End},
		{"role", text, dictionary.Rights},
		{"is_admin", flag, dictionary.Rights},
		{"last_active_at", instant, ""},
		{"role_id", number, ""},
		{"password_changed_at", instant, ""},
		{"name", text, ""},
	} {
		if got := dictionary.Closes(test.column, test.holds); got != test.want {
			t.Errorf("%s: got %q, want %q", test.column, got, test.want)
		}
	}
}

func TestTheNameOfATableNamesPeople(t *testing.T) {
	for table, want := range map[string]bool{
		"users": true, "shop.Customers": true, "auth_user": true, "people": true, "user_settings": false, "orders": false,
		"": false, "_": false,
	} {
		if dictionary.People(table) != want {
			t.Errorf("%q names people: %t", table, !want)
		}
	}
	if dictionary.Rank("users") <= dictionary.Rank("auth_user") || dictionary.Rank("user") <= dictionary.Rank("guests") {
		t.Error("users is the clearest name")
	}
}

func TestTheNameOfAColumnNamesAPerson(t *testing.T) {
	for column, want := range map[string]bool{
		"user_id": true, "userId": true, "author": true, "shared_by_id": true, "created_by": true, "assigned_to": true,
		"project_id": false, "position": false, "id": false, "by": false, "": false,
	} {
		if dictionary.Names(column) != want {
			t.Errorf("%q names a person: %t", column, !want)
		}
	}
}

func TestTheStemOfAColumnNamesATable(t *testing.T) {
	for column, want := range map[string]string{
		"user_id": "user", "projectUUID": "project", "id": "", "amount": "amount",
	} {
		stem, isKey := dictionary.Stem(column)
		if stem != want || isKey != (column != "amount") {
			t.Errorf("%s: got %q, %t", column, stem, isKey)
		}
	}
	for stem, table := range map[string]string{
		"user": "users", "project": "app.lm_Projects", "story": "stories", "class": "classes", "box": "boxes",
		"status": "status", "branch": "branches",
	} {
		if !dictionary.Same(stem, table) {
			t.Errorf("%s does not name %s", stem, table)
		}
	}
	for stem, table := range map[string]string{"": "users", "user": "user_settings", "a_user": "users"} {
		if dictionary.Same(stem, table) {
			t.Errorf("%q names %s", stem, table)
		}
	}
}

func TestSomeNamesAskForAQuestion(t *testing.T) {
	if dictionary.Asks("shop.Invoices") != "invoice" || dictionary.Asks("user_teams") != "team" ||
		dictionary.Asks("settings", "id", "external_id") != "external" || dictionary.Asks("settings", "external") != "" {
		t.Error("a word is not found")
	}
	if !dictionary.IsBook("invoice_lines") || dictionary.IsBook("teams") {
		t.Error("bookkeeping is not recognized")
	}
	if _, ok := dictionary.IsNeutral("Unknown"); !ok {
		t.Error("unknown reveals something")
	}
	if !dictionary.IsDocument(datamap.TypeJSON) || dictionary.IsDocument(text) {
		t.Error("a document is not recognized")
	}
}
