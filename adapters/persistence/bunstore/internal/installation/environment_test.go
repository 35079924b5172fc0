package installation

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func TestAnEnvironmentIsRefusedWithTheRemedy(t *testing.T) {
	for environment, remedy := range map[string]string{
		"3.45.0": "", "3.46.1": "", "4.0.0": "", "3.44.2": "Upgrade the driver", "3.42.0": "Upgrade the driver",
		"UTF8 UTF8 140000 on": "", "UTF8 UTF8 180001 on": "", "UTF8 UTF8 180001 off": "RESET", "UTF8 LATIN1 150004 on": "",
		"UTF8 UTF8 130014 on": "Upgrade the server", "LATIN1 LATIN1 150004 on": "client_encoding=UTF8",
		"UTF8 SQL_ASCII 150004 on": "TrustEncoding", "SQL_ASCII UTF8 150004 on": "client_encoding=UTF8",
		"UTF8 UTF8 150004 on =,||": "Drop them",
	} {
		err := Environment{}.refuse(environment)
		if remedy == "" && err != nil ||
			remedy != "" && (!errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), remedy)) {
			t.Errorf("%s: %v", environment, err)
		}
	}
	if err := (Environment{TrustEncoding: true}).refuse("SQL_ASCII UTF8 150004 on"); err == nil {
		t.Error("a connection in SQL_ASCII to a database in UTF8 is trusted")
	}
}
