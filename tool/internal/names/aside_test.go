package names_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

func TestRightsAndArchivesAreNotPersonal(t *testing.T) {
	for column, want := range map[string]bool{
		"endpoint_scopes": false, "endpoint": true, "device_rights": false,
		"zip_sha256": false, "zip_json_sha256": false, "zipSha256": false, "zip_file_size": false,
		"zip": true, "zip_code": true, "zip_ext": true, "billing_zip": true, "zipcode_hash": true, "email_sha256": true,
	} {
		if _, ok := names.Find("api_tokens", column, datamap.TypeText); ok != want {
			t.Errorf("%s is personal: %v", column, ok)
		}
	}
}

func TestAChecksumIsNotPersonal(t *testing.T) {
	for column, want := range map[string]bool{"message_checksum": false, "message": true} {
		if _, ok := names.Find("inbound_emails", column, datamap.TypeText); ok != want {
			t.Errorf("%s is personal: %v", column, ok)
		}
	}
}

func TestTheConfigurationOfAUserIsASetting(t *testing.T) {
	for table, want := range map[string]bool{
		"user_configs": true, "encrypted_user_configs": true, "userConfigurations": true, "user_settings": true,
		"account_configs": false, "configs": false,
	} {
		if names.Is(table, names.Settings) != want || names.Is(table, names.Things) == want {
			t.Errorf("%s is a setting: %v, a thing: %v", table, names.Is(table, names.Settings), names.Is(table, names.Things))
		}
	}
}

func TestATextOrANumberNamedLikeAnInstantIsJudgedAsOne(t *testing.T) {
	for column, want := range map[string]bool{
		"last_login_at": true, "last_login": true, "lastSeen": true, "birth_date": true, "last_seen_at bigint": true,
		"phone_confirmed_at": false, "phone_checked_at bigint": false, "login_time": false, "reset_password_date": false,
		"last_name": true, "login": true,
	} {
		table, name, typ := split("users." + column)
		if _, ok := names.Find(table, name, typ); ok != want {
			t.Errorf("%s is personal: %v", column, ok)
		}
	}
	for column, want := range map[string]bool{
		"last_login": true, "last_login_at": true, "joined_on": true, "creationdate": true,
		"update": false, "runtime": false, "last_login json": false, "last_name": false,
		"at": false, "time_zone": false, "": false,
	} {
		_, name, typ := split("users." + column)
		if names.MayBeInstant(name, typ) != want {
			t.Errorf("%s is an instant: %v", column, !want)
		}
	}
}

func TestTheDefaultOfATextTellsAFlag(t *testing.T) {
	for initial, want := range map[string]bool{"false": true, "N": true, "1": true, "": false, "none": false} {
		if c := (datamap.CatalogColumn{Type: datamap.TypeText, Initial: initial}); names.IsFlag(c) != want {
			t.Errorf("%q is a flag: %v", initial, !want)
		}
	}
	if names.IsFlag(datamap.CatalogColumn{Type: datamap.TypeInteger, Initial: "0"}) {
		t.Error("a number is a flag")
	}
}
