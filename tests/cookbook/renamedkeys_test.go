package cookbook_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

type Blogger struct {
	bun.BaseModel `bun:"table:bloggers"`

	Handle   string    `bun:"handle,pk"`
	PublicID uuid.UUID `bun:"public_id,type:uuid,unique,notnull" subject:"id"`
	Bio      string    `bun:"bio" pii:"identity,erasure:anonymize,surrogate:''"`
}

type Entry struct {
	bun.BaseModel `bun:"table:entries"`

	ID      int64    `bun:"id,pk"`
	Handle  string   `bun:"handle"`
	Blogger *Blogger `bun:"rel:belongs-to,join:handle=handle,on_update:cascade"`
	Text    string   `bun:"text" pii:"communication,erasure:anonymize,surrogate:''"`
}

// renames gives the blogger a handle without a meaning. The foreign key of the entries follows (ON UPDATE CASCADE).
func renames(ctx context.Context, s ports.Session, subject domain.Subject) error {
	tx, err := bunstore.Tx(s)
	if err != nil {
		return err
	}
	_, err = tx.NewUpdate().Table("bloggers").Set("handle = ?", "erased-"+strings.ReplaceAll(uuid.NewString(), "-", "")).
		Where("public_id = ?", subject.ID.String()).Exec(ctx)
	return err
}

func TestAKeyOfARowThatStaysIsRenamed(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Blogger)(nil), (*Entry)(nil)}
		prepare(t, db, models...)
		gdpr, err := app.New(app.Config{
			DB: db, Models: models, Options: stack.Options{Hooks: stack.Hooks{BeforeErasure: renames}},
		})
		must(t, err)
		zoe := uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
		insert(t, db, &Blogger{Handle: "zoe", PublicID: zoe, Bio: "I row"}, &Entry{ID: 1, Handle: "zoe", Text: "Hi"})
		expectText(t, erasing(t, db, gdpr, subject(t, zoe.String()), "bloggers", "entries"), `
			before    bloggers: handle=zoe, public_id=6ba7b810-9dad-11d1-80b4-00c04fd430c8, bio=I row
			before    entries: id=1, handle=zoe, text=Hi
			exported  bloggers.bio = I row
			exported  entries.text = Hi
			after     bloggers: handle=erased-…, public_id=6ba7b810-9dad-11d1-80b4-00c04fd430c8, bio=
			after     entries: id=1, handle=erased-…, text=
		`)
	})
}
