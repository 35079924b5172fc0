package main

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestASignUpInsertsTheUserAndTheConsent(t *testing.T) {
	driver := databases.Driver{Name: "PostgreSQL", SQL: "pgx"}
	db := driver.Open(t, driver.NewDatabase(t))
	table := "CREATE TABLE users (id bigserial PRIMARY KEY, email text UNIQUE, theme text)"
	if _, err := db.ExecContext(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	dataMap, err := manifest.Read(strings.NewReader(personalData))
	if err != nil {
		t.Fatal(err)
	}
	gdpr, err := app.New(app.Config{DB: db, DataMap: dataMap})
	if err != nil {
		t.Fatal(err)
	}
	if err := signUp(t.Context(), db, gdpr, "zoe@example.org"); err == nil {
		t.Error("the sign-up succeeded without the tables of habeas")
	}
	if err := gdpr.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := signUp(t.Context(), db, gdpr, "zoe@example.org"); err != nil {
		t.Fatal(err) // also if the failed sign-up has left a user
	}
	zoe, err := domain.NewSubjectID("2")
	if err != nil {
		t.Fatal(err)
	}
	consents, err := gdpr.Operator().ConsentHistory(t.Context(), zoe, "newsletter")
	if err != nil || len(consents) != 1 {
		t.Errorf("%v, %v", consents, err)
	}
}
