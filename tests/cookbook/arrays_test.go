package cookbook_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Reader struct {
	bun.BaseModel `bun:"table:readers"`

	ID   int64  `bun:"id,pk" subject:"id"`
	Name string `bun:"name" pii:"identity,erasure:anonymize"`
}

// DocumentReader is the model of the view. Each of its rows has one element of the array documents.reader_ids.
type DocumentReader struct {
	bun.BaseModel `bun:"table:document_readers" subject:"owned,trusted"`

	DocumentID int64   `bun:"document_id,pk" pii:"behavioral"`
	ReaderID   int64   `bun:"reader_id,pk"`
	Reader     *Reader `bun:"rel:belongs-to,join:reader_id=id"`
}

var readersView = []string{
	`CREATE VIEW document_readers AS
		SELECT id AS document_id, reader_id FROM documents, unnest(reader_ids) AS reader_id`,
	`CREATE FUNCTION remove_reader() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		UPDATE documents SET reader_ids = array_remove(reader_ids, OLD.reader_id) WHERE id = OLD.document_id;
		RETURN OLD;
	END $$`,
	`CREATE TRIGGER remove_reader INSTEAD OF DELETE ON document_readers
		FOR EACH ROW EXECUTE FUNCTION remove_reader()`,
}

func TestAnIDLeavesTheArraysThatHoldIt(t *testing.T) {
	db := databases.PostgreSQL(t)
	prepare(t, db, (*Reader)(nil), "CREATE TABLE documents (id bigint PRIMARY KEY, title text, reader_ids bigint[])",
		"INSERT INTO documents VALUES (1, 'Plan', '{42,7}'), (2, 'Draft', '{7}')")
	for _, statement := range readersView {
		prepare(t, db, statement)
	}
	insert(t, db, &Reader{ID: 42, Name: "Zoe"})
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Reader)(nil), (*DocumentReader)(nil)}})
	must(t, err)

	expectText(t, erasing(t, db, gdpr, subject(t, "42"), "readers", "documents"), `
		before    readers: id=42, name=Zoe
		before    documents: id=1, title=Plan, reader_ids={42,7}
		before    documents: id=2, title=Draft, reader_ids={7}
		exported  readers.name = Zoe
		exported  document_readers.document_id = 1
		after     readers: id=42, name=anon-…
		after     documents: id=1, title=Plan, reader_ids={7}
		after     documents: id=2, title=Draft, reader_ids={7}
	`)
}
