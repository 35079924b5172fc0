package app_test

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

// An application that does not start if an erasure would fail or leave personal data. A migration has added a phone
// number, and a log of old email addresses, of which the model knows nothing.
func ExampleIntegration_Check() {
	sqldb, err := sql.Open("sqlite", ":memory:")
	check(err)
	sqldb.SetMaxOpenConns(1)
	db := bun.NewDB(sqldb, sqlitedialect.New())
	for _, migration := range []string{
		`CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL, theme TEXT)`,
		`ALTER TABLE users ADD COLUMN phone TEXT`,
		`CREATE TABLE old_emails (email TEXT)`,
		`CREATE TRIGGER log_email AFTER UPDATE OF email ON users BEGIN
			INSERT INTO old_emails VALUES (OLD.email);
		END`,
	} {
		_, err := db.Exec(migration)
		check(err)
	}
	fmt.Println(start(context.Background(), db))
	// Output:
	// warning: users.phone: personal-unannotated
	// habeas: check: users: trigger-copies: The trigger log_email writes to old_emails, which is not in the data map and has columns of the same names: email. Old values there outlive an erasure; Add old_emails to the data map, or let the trigger leave these columns out.
}

func start(ctx context.Context, db *bun.DB) error {
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*User)(nil)}})
	if err != nil {
		return err
	}
	findings, err := gdpr.Check(ctx)
	if err != nil {
		return err
	}
	for _, finding := range findings {
		if finding.Severity == domain.SeverityWarning {
			fmt.Printf("warning: %s: %s\n", finding.Where(), finding.Code)
		}
	}
	return domain.Errors(findings)
}
