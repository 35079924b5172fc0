package main

import (
	"context"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/visit"
)

func TestMain(m *testing.M) { postgres.Main(m) }

func TestTheProgramErasesTheUser(t *testing.T) {
	driver := databases.Driver{Name: "PostgreSQL", SQL: "pgx"}
	url := driver.NewDatabase(t)
	db := driver.Open(t, url)
	for _, statement := range []string{
		"CREATE TABLE users (id bigint PRIMARY KEY, email text, theme text)",
		"INSERT INTO users VALUES (1, 'zoe@example.org', 'dark'), (2, 'bob@example.org', 'light')",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	visit.Program(t, func(ctx context.Context, address string) error { return run(ctx, url, address) })
	var emails []string
	if err := db.NewSelect().Table("users").Column("email").Order("id").Scan(t.Context(), &emails); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(emails[0], "anon-") || emails[1] != "bob@example.org" {
		t.Errorf("the addresses are %q", emails)
	}
}
