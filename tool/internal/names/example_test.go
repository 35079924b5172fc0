package names_test

import (
	"fmt"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// A name suggests what a column holds. A person has to confirm the guess.
func ExampleFind() {
	for _, column := range []string{"e_mail", "last_login_ip", "price"} {
		if m, ok := names.Find("customers", column, datamap.TypeText); ok {
			fmt.Printf("%s: %s, because %s\n", column, m.Category, m.Reason())
		}
	}
	// Output:
	// e_mail: contact, because its name contains "e mail", which suggests an email address
	// last_login_ip: technical, because its name contains "ip", which suggests a network address or a device
}
