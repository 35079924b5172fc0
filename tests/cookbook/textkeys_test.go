package cookbook_test

import (
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
	linter "github.com/habeas-data/habeas/tool/check"
)

type Borrower struct {
	bun.BaseModel `bun:"table:borrowers" subject:"owned"`

	ID    int64  `bun:"id,pk" subject:"id"`
	Email string `bun:"email" pii:"contact"`
}

type Loan struct {
	bun.BaseModel `bun:"table:loans" subject:"owned"`

	ID         int64     `bun:"id,pk"`
	By         string    `bun:"by" pii:"none"` // the id of the borrower as a text, or the name of a machine
	Title      string    `bun:"title" pii:"behavioral"`
	ByKey      int64     `bun:"by_key"` // GENERATED
	BorrowedBy *Borrower `bun:"rel:belongs-to,join:by_key=id"`
}

// textLoan refers to the borrower by the text, which PostgreSQL refuses to compare with a number.
type textLoan struct {
	bun.BaseModel `bun:"table:loans" subject:"owned"`

	ID         int64     `bun:"id,pk"`
	By         string    `bun:"by"`
	Title      string    `bun:"title" pii:"behavioral"`
	BorrowedBy *Borrower `bun:"rel:belongs-to,join:by=id"`
}

// The columns that hold the key of a person in a text.
const (
	keyOnPostgreSQL = `ALTER TABLE loans ADD COLUMN by_key bigint
		GENERATED ALWAYS AS (CASE WHEN by ~ '^[0-9]{1,18}$' THEN CAST(by AS bigint) END) STORED`
	keyOnSQLite = `ALTER TABLE loans ADD COLUMN by_key bigint
		GENERATED ALWAYS AS (CASE WHEN by <> '' AND by NOT GLOB '*[^0-9]*' THEN CAST(by AS integer) END) VIRTUAL`
)

func TestKeysInATextAreFoundByAGeneratedColumn(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		prepare(t, db, (*Borrower)(nil), `CREATE TABLE loans (id bigint PRIMARY KEY, by text, title text)`)
		insert(t, db, &Borrower{ID: 42, Email: "zoe@example.org"}, &Borrower{ID: 7, Email: "ann@example.org"})
		databases.Execute(t, db, `INSERT INTO loans VALUES (1, '42', 'Emma'), (2, 'machine', 'Dracula'), (3, '7', 'Ulysses')`)
		statement := keyOnSQLite
		if strings.HasSuffix(t.Name(), "PostgreSQL") {
			if statement = statementOfLint(t, db); statement != strings.Join(strings.Fields(keyOnPostgreSQL), " ") {
				t.Errorf("lint names %s", statement)
			}
		}
		databases.Execute(t, db, statement)
		gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Borrower)(nil), (*Loan)(nil)}})
		must(t, err)

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "loans"), `
			before    loans: id=1, by=42, title=Emma, by_key=42
			before    loans: id=2, by=machine, title=Dracula, by_key=NULL
			before    loans: id=3, by=7, title=Ulysses, by_key=7
			exported  borrowers.email = zoe@example.org
			exported  loans.title = Emma
			after     loans: id=2, by=machine, title=Dracula, by_key=NULL
			after     loans: id=3, by=7, title=Ulysses, by_key=7
		`)
	})
}

// statementOfLint returns the statement that the remedy of key-type names.
func statementOfLint(t *testing.T, db *bun.DB) string {
	t.Helper()
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Borrower)(nil), (*textLoan)(nil)}})
	must(t, err)
	result, err := linter.Run(t.Context(), gdpr.Operator(), gdpr.DataMap(), gdpr.Plan(), linter.Options{})
	must(t, err)
	for _, f := range result.Findings {
		if i := strings.Index(f.Remedy, "ALTER TABLE"); f.Code == "key-type" && i >= 0 {
			return strings.TrimSuffix(f.Remedy[i:], ".")
		}
	}
	t.Fatalf("lint names no statement: %v", result.Findings)
	return ""
}
