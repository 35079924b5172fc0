package cookbook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Customer struct {
	bun.BaseModel `bun:"table:customers"`

	ID       int64      `bun:"id,pk" subject:"id"`
	Email    string     `bun:"email,unique" pii:"contact,surrogate:'{}@erased.invalid'"`
	Password string     `bun:"password" pii:"technical,surrogate:'',export:no"`
	Birthday *time.Time `bun:"birthday" pii:"identity,erasure:null"`
	Theme    string     `bun:"theme"`
	Carts    []*Cart    `bun:"rel:has-many,join:id=customer_id"`
}

// Cart has a reference to a customer, but no annotations.
type Cart struct {
	bun.BaseModel `bun:"table:carts"`

	ID         int64 `bun:"id,pk"`
	CustomerID int64 `bun:"customer_id"`
}

type Address struct {
	bun.BaseModel `bun:"table:addresses" subject:"owned"`

	ID         int64     `bun:"id,pk"`
	CustomerID int64     `bun:"customer_id"`
	Customer   *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Street     string    `bun:"street" pii:"location"`
	Doorbell   int       `bun:"doorbell"`
}

type Receipt struct {
	bun.BaseModel `bun:"table:receipts"`

	ID         int64     `bun:"id,pk"`
	CustomerID int64     `bun:"customer_id"`
	Customer   *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Name       string    `bun:"name" pii:"financial,erasure:retain,reason:'§ 147 AO',retain:10y,since:issued_at"`
	IssuedAt   time.Time `bun:"issued_at"`
}

// check writes the mistakes in the models to w. If there are none, it writes the steps of an erasure, and the notices
// about the data map, such as a table that it leaves out.
func check(w *strings.Builder, db *bun.DB, models ...any) {
	gdpr, err := app.New(app.Config{DB: db, Models: models})
	if err != nil {
		fmt.Fprintln(w, err) // each mistake is on a line of its own
		return
	}
	for _, step := range gdpr.Stack().Eraser.Plan().Steps {
		fmt.Fprintln(w, step.Strategy, step.Target, step.Columns)
	}
	for _, notice := range gdpr.Stack().DataMap.Notices() {
		fmt.Fprintln(w, notice)
	}
}

func TestAnExistingSchemaIsAnnotated(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Customer)(nil), (*Address)(nil), (*Receipt)(nil)}
		var printed strings.Builder
		check(&printed, db, models...)
		expectText(t, printed.String(), `
			delete addresses []
			retain receipts [name]
			anonymize customers [email password birthday]
			carts.customer_id: refers to customers, but this table is not in the data map: exports and erasures ignore it
		`)
		prepare(t, db, models...)
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		born, issued := time.Date(1990, 1, 2, 0, 0, 0, 0, time.UTC), time.Now().AddDate(-1, 0, 0)
		insert(t, db, &Customer{ID: 42, Email: "zoe@example.org", Password: "$2a$10$N9qo", Birthday: &born, Theme: "dark"},
			&Address{ID: 1, CustomerID: 42, Street: "Am Markt 1", Doorbell: 3},
			&Receipt{ID: 1, CustomerID: 42, Name: "Zoe", IssuedAt: issued})

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "customers", "addresses"), `
			before    customers: id=42, email=zoe@example.org, password=$2a$10$N9qo, birthday=1990-01-02, theme=dark
			before    addresses: id=1, customer_id=42, street=Am Markt 1, doorbell=3
			exported  customers.email = zoe@example.org
			exported  customers.birthday = 1990-01-02
			exported  addresses.street = Am Markt 1
			exported  receipts.name = Zoe
			after     customers: id=42, email=…@erased.invalid, password=, birthday=NULL, theme=dark
			after     addresses: no rows
		`)
		var receipt Receipt
		must(t, db.NewSelect().Model(&receipt).Where("id = 1").Scan(t.Context()))
		if receipt.Name != "Zoe" {
			t.Error(receipt.Name)
		}
	})
}

// careless is a model of customers with mistakes in its struct tags.
type careless struct {
	bun.BaseModel `bun:"table:customers"`

	ID       int64  `bun:"id,pk" subject:"id"`
	Password string `bun:"password" pii:"technical"`
	Email    string `bun:"email,notnull" pii:"contact,erasure:null"`
}

func TestEveryMistakeIsPrintedWithItsRemedy(t *testing.T) {
	var printed strings.Builder
	check(&printed, databases.SQLite(t), (*careless)(nil), (*Address)(nil))
	expectText(t, strings.ReplaceAll(printed.String(), "; ", "\n"), `
		habeas: models: 2 mistakes:
		customers.password: is named like a secret, but does not set export
		possible: export:no, export:yes
		set export:no for hashes, tokens and keys, or export:yes for data that the person may read
		customers.email: cannot be set to NULL: its bun tag says that it is never NULL
		found "null"
		possible: erase, anonymize
	`)
}
