package cookbook_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Author struct {
	bun.BaseModel `bun:"table:authors" subject:"owned"`

	Username string    `bun:"username,pk" pii:"identity"`
	PublicID uuid.UUID `bun:"public_id,type:uuid,unique,notnull" subject:"id"`
	Email    string    `bun:"email" pii:"contact"`
}

type Article struct {
	bun.BaseModel `bun:"table:articles" subject:"owned"`

	ID       int64   `bun:"id,pk"`
	Username string  `bun:"username"`
	Author   *Author `bun:"rel:belongs-to,join:username=username"`
	Text     string  `bun:"text" pii:"communication"`
}

func TestANameIsTheKeyButNotTheSubject(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Author)(nil), (*Article)(nil)}
		prepare(t, db, models...)
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		zoe := uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
		insert(t, db, &Author{Username: "zoe", PublicID: zoe, Email: "zoe@example.org"},
			&Article{ID: 1, Username: "zoe", Text: "On keys"})

		expectText(t, erasing(t, db, gdpr, subject(t, zoe.String()), "authors", "articles"), `
			before    authors: username=zoe, public_id=6ba7b810-9dad-11d1-80b4-00c04fd430c8, email=zoe@example.org
			before    articles: id=1, username=zoe, text=On keys
			exported  authors.username = zoe
			exported  authors.email = zoe@example.org
			exported  articles.text = On keys
			after     authors: no rows
			after     articles: no rows
		`)
	})
}

// poster is an author whose row stays.
type poster struct {
	bun.BaseModel `bun:"table:posters"`

	Username string    `bun:"username,pk" pii:"identity,erasure:anonymize"`
	PublicID uuid.UUID `bun:"public_id,type:uuid,unique,notnull" subject:"id"`
	Bio      string    `bun:"bio" pii:"identity,erasure:anonymize"`
}

func TestAKeyOfARowThatStaysIsRefused(t *testing.T) {
	_, err := app.New(app.Config{DB: databases.SQLite(t), Models: []any{(*poster)(nil)}})
	problems := domain.Problems(err)
	if len(problems) != 1 || problems[0].Where() != "posters.username" {
		t.Error(err)
	}
}
