package schemas

import (
	"time"

	"github.com/uptrace/bun"
)

// These are the models of a shop. An item belongs to an order, and an order belongs to a person.

type person struct {
	bun.BaseModel `bun:"table:people" subject:"owned"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact"`
}

type order struct {
	bun.BaseModel `bun:"table:orders" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	PersonID      int64   `bun:"person_id"`
	Person        *person `bun:"rel:belongs-to,join:person_id=id"`
	Note          string  `bun:"note" pii:"communication"`
}

type item struct {
	bun.BaseModel `bun:"table:items" subject:"owned"`
	ID            int64  `bun:"id,pk"`
	OrderID       int64  `bun:"order_id"`
	Order         *order `bun:"rel:belongs-to,join:order_id=id"`
	Engraving     string `bun:"engraving" pii:"communication"`
}

var shop = []any{(*person)(nil), (*order)(nil), (*item)(nil)}

func shopTables() []string {
	return []string{
		"CREATE TABLE people (id bigint PRIMARY KEY, email text)",
		"CREATE TABLE orders (id bigint PRIMARY KEY, person_id bigint REFERENCES people, note text)",
		"CREATE TABLE items (id bigint PRIMARY KEY, order_id bigint REFERENCES orders, engraving text)",
		"INSERT INTO people VALUES (1, 'a@example.org'), (2, 'b@example.org')",
		"INSERT INTO orders VALUES (10, 1, 'note'), (20, 2, 'note')",
		"INSERT INTO items VALUES (100, 10, 'Zoe'), (200, 20, 'Bob')",
	}
}

// account has rows that an erasure keeps. It must keep the address for ten years, and the number forever.
type account struct {
	bun.BaseModel `bun:"table:accounts"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:'books',retain:10y,since:issued_at"`
	Number        string    `bun:"number" pii:"identity,erasure:retain,reason:'for ever'"`
	IssuedAt      time.Time `bun:"issued_at"`
}
