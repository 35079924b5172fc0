package main

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestADatabaseThatDoesNotKnowItsEncodingMustBeTrusted(t *testing.T) {
	address := databases.Encoded(t, "SQL_ASCII")("client_encoding=LATIN1") // the program asks for UTF8
	fill(t, "pgx", address)
	env := environment(t, address)
	withoutMap := without(env, "HABEAS_DATA_MAP")
	for _, test := range []struct {
		env  map[string]string
		args []string
	}{
		{env, []string{"migrate", "up"}},
		{env, []string{"lint"}},
		{env, []string{"scaffold"}},
		{env, []string{"rehearse", "1"}},
		{withoutMap, []string{"migrate", "up"}},
		{withoutMap, []string{"trail", "1"}},
	} {
		command := strings.Join(test.args, " ")
		code, _, stderr := run(t, test.env, test.args...)
		if code == 0 || !strings.Contains(stderr, "SQL_ASCII") || !strings.Contains(stderr, "--trust-encoding") {
			t.Errorf("%s, not trusted: %d %s", command, code, stderr)
		}
		_, _, stderr = run(t, test.env, append(test.args, "--trust-encoding")...)
		if strings.Contains(stderr, "SQL_ASCII") {
			t.Errorf("%s, trusted: %s", command, stderr)
		}
	}
}

func TestTheProgramAsksAnyServerForUTF8(t *testing.T) {
	for _, encoding := range []string{"LATIN1", "EUC_JP"} {
		address := databases.Encoded(t, encoding)("client_encoding=LATIN1")
		fill(t, "pgx", strings.Replace(address, "=LATIN1", "=UTF8", 1))
		if code, _, stderr := run(t, environment(t, address), "migrate", "up"); code != 0 {
			t.Errorf("%s: %d %s", encoding, code, stderr)
		}
	}
}
