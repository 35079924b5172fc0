package main

import (
	"time"

	"github.com/uptrace/bun"
)

// These are the models of a small shop. For habeas, only the tags pii and subject were added.

// User is the table of subjects. An erasure overwrites personal data and keeps the row, because the column "theme" is
// not personal data.
type User struct {
	bun.BaseModel `bun:"table:users"`

	ID        int64     `bun:"id,pk,autoincrement" subject:"id"`
	Email     string    `bun:"email,notnull,unique" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Name      string    `bun:"name,notnull" pii:"identity,basis:contract,purpose:'account'"`
	LastLogin time.Time `bun:"last_login" pii:"technical,basis:legitimate_interests,purpose:security"`
	Theme     string    `bun:"theme"`
}

// Address has no columns except personal data and keys. An erasure therefore deletes its rows.
type Address struct {
	bun.BaseModel `bun:"table:addresses"`

	ID     int64  `bun:"id,pk,autoincrement"`
	UserID int64  `bun:"user_id,notnull"`
	User   *User  `bun:"rel:belongs-to,join:user_id=id"`
	Street string `bun:"street,notnull" pii:"contact,basis:contract,purpose:delivery"`
	City   string `bun:"city,notnull" pii:"location,basis:contract,purpose:delivery"`
}

// Order has columns without annotation. The tag owned declares that the complete row belongs to the user, so an erasure
// deletes it.
type Order struct {
	bun.BaseModel `bun:"table:orders" subject:"owned"`

	ID       int64     `bun:"id,pk,autoincrement"`
	UserID   int64     `bun:"user_id,notnull"`
	User     *User     `bun:"rel:belongs-to,join:user_id=id"`
	Note     *string   `bun:"note" pii:"communication,basis:contract"`
	PlacedAt time.Time `bun:"placed_at,notnull" pii:"behavioral,basis:contract"`
	Status   string    `bun:"status,notnull"`
}

// OrderItem refers to Order, and Order refers to User. An item therefore belongs to the user of its order.
type OrderItem struct {
	bun.BaseModel `bun:"table:order_items" subject:"owned"`

	OrderID  int64  `bun:"order_id,pk"`
	Line     int    `bun:"line,pk"`
	Order    *Order `bun:"rel:belongs-to,join:order_id=id"`
	Product  string `bun:"product,notnull" pii:"behavioral,basis:contract"`
	Quantity int    `bun:"quantity,notnull" pii:"behavioral,basis:contract"`
}

// Invoice has an address and a total that are kept for ten years from the end of the year, as the law asks for books
// (in Germany, vouchers are eight years since 2025). The email address need not be kept.
type Invoice struct {
	bun.BaseModel `bun:"table:invoices"`

	ID       int64     `bun:"id,pk,autoincrement"`
	UserID   int64     `bun:"user_id,notnull"`
	User     *User     `bun:"rel:belongs-to,join:user_id=id"`
	Address  string    `bun:"address,notnull" pii:"financial,erasure:retain,basis:legal_obligation,reason:'§ 147 AO',retain:10y,since:issued_at,from:year_end"`
	Total    string    `bun:"total,notnull,type:numeric(12,2)" pii:"financial,erasure:retain,basis:legal_obligation,reason:'§ 147 AO',retain:10y,since:issued_at,from:year_end"`
	SentTo   string    `bun:"sent_to,notnull" pii:"contact,erasure:anonymize,basis:contract"`
	IssuedAt time.Time `bun:"issued_at,notnull"`
}

// models lists the models in the order in which their tables are created.
var models = []any{(*User)(nil), (*Address)(nil), (*Order)(nil), (*OrderItem)(nil), (*Invoice)(nil)}
