package names_test

import (
	"testing"

	"github.com/habeas-data/habeas/tool/internal/names"
)

func TestNamesOfPhoneNumbers(t *testing.T) {
	for _, column := range []string{
		"sms.recipient_number", "calls.number", "user_phone_numbers.number", "app.smartphones.number", "logs.callerNumber",
	} {
		if table, name, _ := split(column); !names.IsPhoneNumber(table, name) {
			t.Errorf("%s is no phone number", column)
		}
	}
	for _, column := range []string{
		"invoices.number", "calls.number_of_tries", "sms.serial_number", "callbacks.number", "rooms.recipient",
	} {
		if table, name, _ := split(column); names.IsPhoneNumber(table, name) {
			t.Errorf("%s is a phone number", column)
		}
	}
}
