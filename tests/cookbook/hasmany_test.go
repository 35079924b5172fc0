package cookbook_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Listener struct {
	bun.BaseModel `bun:"table:listeners"`

	ID    int64   `bun:"id,pk" subject:"id"`
	Name  string  `bun:"name" pii:"identity,erasure:anonymize"`
	Plays []*Play `bun:"rel:has-many,join:id=listener_id"`
}

type Play struct {
	bun.BaseModel `bun:"table:plays" subject:"owned"`

	ID         int64  `bun:"id,pk"`
	ListenerID int64  `bun:"listener_id"`
	Song       string `bun:"song" pii:"behavioral"`
}

func TestARelationOfTheParentLeadsToTheSubject(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Listener)(nil), (*Play)(nil)}
		prepare(t, db, models...)
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		insert(t, db, &Listener{ID: 42, Name: "Zoe"}, &Play{ID: 1, ListenerID: 42, Song: "Gloria"},
			&Play{ID: 2, ListenerID: 7, Song: "Help!"})

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "listeners", "plays"), `
			before    listeners: id=42, name=Zoe
			before    plays: id=1, listener_id=42, song=Gloria
			before    plays: id=2, listener_id=7, song=Help!
			exported  listeners.name = Zoe
			exported  plays.song = Gloria
			after     listeners: id=42, name=anon-…
			after     plays: id=2, listener_id=7, song=Help!
		`)
	})
}
