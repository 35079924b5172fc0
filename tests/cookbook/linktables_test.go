package cookbook_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Fan struct {
	bun.BaseModel `bun:"table:fans"`

	ID   int64  `bun:"id,pk" subject:"id"`
	Name string `bun:"name" pii:"identity,erasure:anonymize"`
}

type Song struct {
	bun.BaseModel `bun:"table:songs"`

	ID    int64  `bun:"id,pk"`
	Title string `bun:"title"`
}

// Like has no annotated column, so an export shows its keys. Without subject:"owned", its rows would stay.
type Like struct {
	bun.BaseModel `bun:"table:likes" subject:"owned"`

	FanID  int64 `bun:"fan_id,pk"`
	Fan    *Fan  `bun:"rel:belongs-to,join:fan_id=id"`
	SongID int64 `bun:"song_id,pk"`
	Song   *Song `bun:"rel:belongs-to,join:song_id=id"`
}

// Wish has an annotated column, so an export shows only this column. Its rows are deleted, too.
type Wish struct {
	bun.BaseModel `bun:"table:wishes"`

	FanID  int64 `bun:"fan_id,pk"`
	Fan    *Fan  `bun:"rel:belongs-to,join:fan_id=id"`
	SongID int64 `bun:"song_id,pk" pii:"behavioral"`
	Song   *Song `bun:"rel:belongs-to,join:song_id=id"`
}

func TestRowsOfALinkTableAreDeleted(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Fan)(nil), (*Like)(nil), (*Wish)(nil)}
		prepare(t, db, (*Fan)(nil), (*Song)(nil), (*Like)(nil), (*Wish)(nil))
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		insert(t, db, &Fan{ID: 42, Name: "Zoe"}, &Fan{ID: 7, Name: "Bob"}, &Song{ID: 1, Title: "Emma"},
			&Like{FanID: 42, SongID: 1}, &Like{FanID: 7, SongID: 1}, &Wish{FanID: 42, SongID: 1})
		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "likes", "wishes", "songs"), `
			before    likes: fan_id=7, song_id=1
			before    likes: fan_id=42, song_id=1
			before    wishes: fan_id=42, song_id=1
			before    songs: id=1, title=Emma
			exported  fans.name = Zoe
			exported  likes.fan_id = 42
			exported  likes.song_id = 1
			exported  wishes.song_id = 1
			after     likes: fan_id=7, song_id=1
			after     wishes: no rows
			after     songs: id=1, title=Emma
		`)
	})
}

// bareLike is Like without its tag.
type bareLike struct {
	bun.BaseModel `bun:"table:likes"`

	FanID  int64 `bun:"fan_id,pk"`
	Fan    *Fan  `bun:"rel:belongs-to,join:fan_id=id"`
	SongID int64 `bun:"song_id,pk"`
}

func TestRowsWithoutAnyTagStay(t *testing.T) {
	gdpr, err := app.New(app.Config{DB: databases.SQLite(t), Models: []any{(*Fan)(nil), (*bareLike)(nil)}})
	must(t, err)
	if steps := gdpr.Plan().Steps; len(steps) != 1 || steps[0].Target != "fans" {
		t.Error(steps)
	}
}
