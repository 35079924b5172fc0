package cookbook_test

import (
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Writer struct {
	bun.BaseModel `bun:"table:writers"`

	ID        int64     `bun:"id,pk" subject:"id"`
	Email     string    `bun:"email" pii:"contact,erasure:anonymize"`
	DeletedAt time.Time `bun:"deleted_at,soft_delete,nullzero"`
}

type Note struct {
	bun.BaseModel `bun:"table:notes" subject:"owned"`

	ID        int64     `bun:"id,pk"`
	WriterID  int64     `bun:"writer_id"`
	Writer    *Writer   `bun:"rel:belongs-to,join:writer_id=id"`
	Text      string    `bun:"text" pii:"communication"`
	DeletedAt time.Time `bun:"deleted_at,soft_delete,nullzero"`
}

func TestSoftDeletedRowsAreErased(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Writer)(nil), (*Note)(nil)}
		prepare(t, db, models...)
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		deleted := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
		insert(t, db, &Writer{ID: 42, Email: "zoe@example.org", DeletedAt: deleted},
			&Note{ID: 1, WriterID: 42, Text: "milk", DeletedAt: deleted}, &Note{ID: 2, WriterID: 42, Text: "bread"})

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "writers", "notes"), `
			before    writers: id=42, email=zoe@example.org, deleted_at=2024-05-01
			before    notes: id=1, writer_id=42, text=milk, deleted_at=2024-05-01
			before    notes: id=2, writer_id=42, text=bread, deleted_at=NULL
			exported  writers.email = zoe@example.org
			exported  notes.text = milk
			exported  notes.text = bread
			after     writers: id=42, email=anon-…, deleted_at=2024-05-01
			after     notes: no rows
		`)
	})
}
