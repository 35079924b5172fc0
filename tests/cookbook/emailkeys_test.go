package cookbook_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Shopper struct {
	bun.BaseModel `bun:"table:shoppers" subject:"owned"`

	ID    int64  `bun:"id,pk" subject:"id"`
	Email string `bun:"email,type:citext,unique" pii:"contact"`
}

type GuestOrder struct {
	bun.BaseModel `bun:"table:guest_orders" subject:"owned"`

	ID      int64    `bun:"id,pk"`
	Email   string   `bun:"email,type:citext" pii:"contact"`
	Shopper *Shopper `bun:"rel:belongs-to,join:email=email"`
}

func TestOrdersByAnAddressAreFoundWhateverItsCase(t *testing.T) {
	db := databases.PostgreSQL(t)
	models := []any{(*Shopper)(nil), (*GuestOrder)(nil)}
	prepare(t, db, append([]any{"CREATE EXTENSION citext"}, models...)...)
	gdpr, err := app.New(app.Config{DB: db, Models: models})
	must(t, err)
	insert(t, db, &Shopper{ID: 42, Email: "Zoe@Example.org"}, &Shopper{ID: 7, Email: "ann@example.org"},
		&GuestOrder{ID: 1, Email: "Zoe@Example.org"}, &GuestOrder{ID: 2, Email: "zoe@example.org"},
		&GuestOrder{ID: 3, Email: "ANN@example.org"})

	expectText(t, erasing(t, db, gdpr, subject(t, "42"), "guest_orders"), `
		before    guest_orders: id=1, email=Zoe@Example.org
		before    guest_orders: id=2, email=zoe@example.org
		before    guest_orders: id=3, email=ANN@example.org
		exported  shoppers.email = Zoe@Example.org
		exported  guest_orders.email = Zoe@Example.org
		exported  guest_orders.email = zoe@example.org
		after     guest_orders: id=3, email=ANN@example.org
	`)
}

type Buyer struct {
	bun.BaseModel `bun:"table:buyers" subject:"owned"`

	ID       int64  `bun:"id,pk" subject:"id"`
	Email    string `bun:"email" pii:"contact"`
	EmailKey string `bun:"email_key,unique"` // GENERATED ALWAYS AS (lower(email)) STORED
}

type GuestCart struct {
	bun.BaseModel `bun:"table:guest_carts" subject:"owned"`

	ID       int64  `bun:"id,pk"`
	Email    string `bun:"email" pii:"contact"`
	EmailKey string `bun:"email_key"` // GENERATED ALWAYS AS (lower(email)) STORED
	Buyer    *Buyer `bun:"rel:belongs-to,join:email_key=email_key"`
}

func TestCartsByAGeneratedAddressAreFoundWhateverItsCase(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		const generated = "email text, email_key text GENERATED ALWAYS AS (lower(email)) STORED"
		prepare(t, db, "CREATE TABLE buyers (id bigint PRIMARY KEY, "+generated+" UNIQUE)",
			"CREATE TABLE guest_carts (id bigint PRIMARY KEY, "+generated+")",
			"INSERT INTO buyers (id, email) VALUES (42, 'Zoe@Example.org'), (7, 'ann@example.org')",
			"INSERT INTO guest_carts (id, email) VALUES (1, 'Zoe@Example.org'), (2, 'zoe@example.org'), (3, 'ANN@example.org')")
		gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Buyer)(nil), (*GuestCart)(nil)}})
		must(t, err)

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "guest_carts"), `
			before    guest_carts: id=1, email=Zoe@Example.org, email_key=zoe@example.org
			before    guest_carts: id=2, email=zoe@example.org, email_key=zoe@example.org
			before    guest_carts: id=3, email=ANN@example.org, email_key=ann@example.org
			exported  buyers.email = Zoe@Example.org
			exported  guest_carts.email = Zoe@Example.org
			exported  guest_carts.email = zoe@example.org
			after     guest_carts: id=3, email=ANN@example.org, email_key=ann@example.org
		`)
	})
}
