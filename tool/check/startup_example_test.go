package check_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check"
)

// This application refuses to start if an erasure would fail or would leave personal data behind. A migration has added
// a column with phone numbers, and a table with old email addresses. The models of the application have neither this
// column nor this table.
func ExampleRun() {
	sqldb, err := sql.Open("sqlite", ":memory:")
	orPanic(err)
	sqldb.SetMaxOpenConns(1)
	db := bun.NewDB(sqldb, sqlitedialect.New())
	for _, migration := range []string{
		`CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL CHECK (email LIKE '%@%'), theme TEXT)`,
		`ALTER TABLE users ADD COLUMN phone TEXT`,
		`CREATE TABLE old_emails (email TEXT)`,
		`CREATE TRIGGER log_email AFTER UPDATE OF email ON users BEGIN
			INSERT INTO old_emails VALUES (OLD.email);
		END`,
	} {
		_, err := db.Exec(migration)
		orPanic(err)
	}
	for _, problem := range domain.Problems(start(context.Background(), db)) {
		rule, _, _ := strings.Cut(problem.Message, ":") // the message is "rule: reason"
		fmt.Printf("error: %s: %s\n", problem.Where(), rule)
	}
	// Output:
	// warning: users: trigger-fires
	// warning: users.phone: personal-unannotated
	// warning: old_emails: table-undecided
	// error: users.email: check-violated
}

// Subscriber is the model before the migration.
type Subscriber struct {
	bun.BaseModel `bun:"table:users"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact,erasure:anonymize"`
	Theme string `bun:"theme"`
}

func orPanic(err error) {
	if err != nil {
		panic(err)
	}
}

func start(ctx context.Context, db *bun.DB) error {
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Subscriber)(nil)}})
	if err != nil {
		return err
	}
	operator := gdpr.Operator()
	result, err := check.Run(ctx, operator, gdpr.DataMap(), gdpr.Plan(), check.Options{Registers: operator.Registers})
	if err != nil {
		return err
	}
	for _, finding := range result.Findings {
		if finding.Severity == datamap.SeverityWarning {
			fmt.Printf("warning: %s: %s\n", finding.Where(), finding.Code)
		}
	}
	return check.Errors(result.Findings)
}

// With models, a table stays out of the data map by decision if the configuration lists it, with the columns that a
// person saw, and the reason.
func ExampleRun_leftOut() {
	sqldb, err := sql.Open("sqlite", ":memory:")
	orPanic(err)
	sqldb.SetMaxOpenConns(1)
	db, ctx := bun.NewDB(sqldb, sqlitedialect.New()), context.Background()
	for _, migration := range []string{
		`CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL, theme TEXT)`,
		`CREATE TABLE audit_days (id INTEGER PRIMARY KEY, day TEXT, hits INTEGER)`,
	} {
		_, err := db.Exec(migration)
		orPanic(err)
	}
	models := []any{(*Subscriber)(nil)}
	gdpr, err := app.New(app.Config{DB: db, Models: models, LeftOut: []datamap.LeftOut{
		{Table: "audit_days", Columns: []string{"id", "day", "hits"}, Because: "counts only"},
		{Table: "legacy.*", Because: "read only, goes in May"}, // all tables of a schema
	}})
	orPanic(err)
	result, err := check.Run(ctx, gdpr.Operator(), gdpr.DataMap(), gdpr.Plan(), check.Options{})
	orPanic(err)
	fmt.Println(len(result.Findings), "findings, left out:", result.LeftOut[0].Table)
	// Output:
	// 0 findings, left out: audit_days
}
