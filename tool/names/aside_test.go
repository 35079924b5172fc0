package names_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/names"
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
