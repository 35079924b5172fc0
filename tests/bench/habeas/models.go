package habeas

import (
	"time"

	"github.com/uptrace/bun"
)

// The models of the shop, with the tags pii and subject as an application would write them.

type user struct {
	bun.BaseModel `bun:"table:users"`

	ID        int64     `bun:"id,pk,autoincrement" subject:"id"`
	Email     string    `bun:"email,notnull,unique" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Name      string    `bun:"name,notnull" pii:"identity,erasure:anonymize,basis:contract,purpose:account"`
	Phone     string    `bun:"phone,notnull" pii:"contact,erasure:anonymize,basis:contract,purpose:delivery"`
	LastSeen  time.Time `bun:"last_seen,notnull" pii:"technical,erasure:anonymize,basis:legitimate_interests,purpose:security"`
	Theme     string    `bun:"theme,notnull"`
	CreatedAt time.Time `bun:"created_at,notnull"`
}

type address struct {
	bun.BaseModel `bun:"table:addresses"`

	ID       int64  `bun:"id,pk,autoincrement"`
	UserID   int64  `bun:"user_id,notnull"`
	User     *user  `bun:"rel:belongs-to,join:user_id=id"`
	Street   string `bun:"street,notnull" pii:"contact,basis:contract,purpose:delivery"`
	Postcode string `bun:"postcode,notnull" pii:"location,basis:contract,purpose:delivery"`
	City     string `bun:"city,notnull" pii:"location,basis:contract,purpose:delivery"`
	Country  string `bun:"country,notnull" pii:"location,basis:contract,purpose:delivery"`
}

type login struct {
	bun.BaseModel `bun:"table:logins"`

	ID         int64     `bun:"id,pk,autoincrement"`
	UserID     int64     `bun:"user_id,notnull"`
	User       *user     `bun:"rel:belongs-to,join:user_id=id"`
	IP         string    `bun:"ip,notnull" pii:"technical,basis:legitimate_interests,purpose:security"`
	UserAgent  string    `bun:"user_agent,notnull" pii:"technical,basis:legitimate_interests,purpose:security"`
	LoggedInAt time.Time `bun:"logged_in_at,notnull" pii:"behavioral,basis:legitimate_interests,purpose:security"`
}

type order struct {
	bun.BaseModel `bun:"table:orders"`

	ID        int64     `bun:"id,pk,autoincrement"`
	UserID    int64     `bun:"user_id,notnull"`
	User      *user     `bun:"rel:belongs-to,join:user_id=id"`
	Recipient string    `bun:"recipient,notnull" pii:"identity,erasure:anonymize,basis:contract,purpose:delivery"`
	Product   string    `bun:"product,notnull" pii:"behavioral,erasure:anonymize,basis:contract,purpose:delivery"`
	Note      *string   `bun:"note" pii:"communication,erasure:anonymize,basis:contract,purpose:delivery"`
	Status    string    `bun:"status,notnull"`
	Total     string    `bun:"total,notnull,type:numeric(12,2)"`
	PlacedAt  time.Time `bun:"placed_at,notnull"`
}

type invoice struct {
	bun.BaseModel `bun:"table:invoices"`

	ID       int64     `bun:"id,pk,autoincrement"`
	UserID   int64     `bun:"user_id,notnull"`
	User     *user     `bun:"rel:belongs-to,join:user_id=id"`
	Address  string    `bun:"address,notnull" pii:"financial,erasure:retain,basis:legal_obligation,reason:'§ 147 AO',retain:10y,since:issued_at"`
	Total    string    `bun:"total,notnull,type:numeric(12,2)" pii:"financial,erasure:retain,basis:legal_obligation,reason:'§ 147 AO',retain:10y,since:issued_at"`
	SentTo   string    `bun:"sent_to,notnull" pii:"contact,erasure:anonymize,basis:contract"`
	IssuedAt time.Time `bun:"issued_at,notnull"`
}

var models = []any{(*user)(nil), (*address)(nil), (*login)(nil), (*order)(nil), (*invoice)(nil)}
