package databases

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// Encoded creates a PostgreSQL database with an encoding, which is dropped at the end of the test. It returns a
// function that returns its URL with parameters of the connection, such as client_encoding=UTF8.
func Encoded(t *testing.T, encoding string) (withParameters func(parameters ...string) string) {
	t.Helper()
	address, err := url.Parse(postgres.NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	admin := Driver{"PostgreSQL", "pgx"}.Open(t, address.String())
	name := strings.TrimPrefix(address.Path, "/") + "_" + strings.ToLower(encoding)
	execute := func(statement string) {
		if _, err := admin.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Error(err)
		}
	}
	execute("CREATE DATABASE " + name + " ENCODING '" + encoding + "' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() { execute("DROP DATABASE " + name + " WITH (FORCE)") })
	address.Path = "/" + name
	return func(parameters ...string) string {
		query := address.Query()
		for _, parameter := range parameters {
			key, value, _ := strings.Cut(parameter, "=")
			query.Set(key, value)
		}
		of := *address
		of.RawQuery = query.Encode()
		return of.String()
	}
}
