package cookbook_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Singer struct {
	bun.BaseModel `bun:"table:singers"`

	ID     int64   `bun:"id,pk" subject:"id"`
	Name   string  `bun:"name" pii:"identity,erasure:anonymize"`
	Choirs []Choir `bun:"m2m:seats,join:Singer=Choir"`
}

type Choir struct {
	bun.BaseModel `bun:"table:choirs"`

	ID   int64  `bun:"id,pk"`
	City string `bun:"city"`
}

// Seat is the link table. Each of its rows belongs to a singer.
type Seat struct {
	bun.BaseModel `bun:"table:seats" subject:"owned"`

	SingerID int64   `bun:"singer_id,pk"`
	Singer   *Singer `bun:"rel:belongs-to,join:singer_id=id"`
	ChoirID  int64   `bun:"choir_id,pk" pii:"behavioral"`
	Choir    *Choir  `bun:"rel:belongs-to,join:choir_id=id"`
	Voice    string  `bun:"voice" pii:"behavioral"`
}

func TestALinkGoesAndItsOtherEndStays(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		db.RegisterModel((*Seat)(nil)) // bun requires it for many-to-many relations
		models := []any{(*Singer)(nil), (*Seat)(nil)}
		prepare(t, db, (*Singer)(nil), (*Choir)(nil), (*Seat)(nil))
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		insert(t, db, &Singer{ID: 42, Name: "Zoe"}, &Singer{ID: 7, Name: "Bob"}, &Choir{ID: 1, City: "Bonn"},
			&Seat{SingerID: 42, ChoirID: 1, Voice: "alto"}, &Seat{SingerID: 7, ChoirID: 1, Voice: "bass"})

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "singers", "seats", "choirs"), `
			before    singers: id=7, name=Bob
			before    singers: id=42, name=Zoe
			before    seats: singer_id=7, choir_id=1, voice=bass
			before    seats: singer_id=42, choir_id=1, voice=alto
			before    choirs: id=1, city=Bonn
			exported  singers.name = Zoe
			exported  seats.choir_id = 1
			exported  seats.voice = alto
			after     singers: id=7, name=Bob
			after     singers: id=42, name=anon-…
			after     seats: singer_id=7, choir_id=1, voice=bass
			after     choirs: id=1, city=Bonn
		`)
	})
}
