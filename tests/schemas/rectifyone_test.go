package schemas

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// writer has two columns of the same category. The notes of a writer have a key of two columns.
type writer struct {
	bun.BaseModel `bun:"table:writers"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Name          string `bun:"name" pii:"identity,erasure:anonymize"`
	Biography     string `bun:"biography" pii:"identity,erasure:anonymize"`
}

type note struct {
	bun.BaseModel `bun:"table:notes" subject:"owned"`
	Page          string  `bun:"page,pk"`
	Line          int64   `bun:"line,pk"`
	WriterID      int64   `bun:"writer_id"`
	Writer        *writer `bun:"rel:belongs-to,join:writer_id=id"`
	Text          string  `bun:"text" pii:"communication"`
}

func writers(more ...string) []string {
	return append([]string{
		"CREATE TABLE writers (id bigint PRIMARY KEY, name text, biography text)",
		"CREATE TABLE notes (page varchar(20), line bigint, writer_id bigint REFERENCES writers, text text," +
			" PRIMARY KEY (page, line))",
		"INSERT INTO writers VALUES (1, 'Zoe', 'old life'), (2, 'Bob', 'other life')",
		"INSERT INTO notes VALUES ('a', 1, 1, 'first'), ('a', 2, 1, 'second'), ('A', 1, 1, 'third'), ('a', 3, 2, 'foreign')",
	}, more...)
}

// correct applies corrections one by one.
func (a *application) correct(
	ctx context.Context, id string, corrections ...domain.Correction,
) (result domain.RectificationResult, err error) {
	subject, err := domain.NewSubject(id)
	if err != nil {
		return result, err
	}
	err = a.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		result, err = a.Stack().Rectifier.Rectify(ctx, s, subject, corrections...)
		return err
	})
	return result, err
}

// If a table has a trigger, the store reads each corrected value again. The result must be the same as without a
// trigger.
func TestOneColumnAndOneRowAreCorrected(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]struct{ postgres, sqlite []string }{
		"a plain database": {},
		"a database with triggers": {
			postgres: function("BEFORE UPDATE", "notes", "RETURN NEW;"),
			sqlite:   sqliteTrigger("AFTER UPDATE", "notes", "SELECT 1;"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				statements := writers(more.sqlite...)
				if isPostgres(db) {
					statements = writers(more.postgres...)
				}
				a := open(t, db, app.Config{Models: []any{(*writer)(nil), (*note)(nil)}}, statements...)
				row := domain.CanonicalTuple([]string{"a", "1"})
				result, err := a.correct(t.Context(), "1",
					domain.Correction{Table: "notes", Column: "text", Row: row, Value: "right"},
					domain.Correction{Table: "writers", Column: "name", Value: "Zoë"})
				must(t, err)
				if result.Rectified["notes"] != 1 || result.Rectified["writers"] != 1 {
					t.Errorf("rectified %v", result.Rectified)
				}
				var held []string
				must(t, db.NewRaw("SELECT name || ', ' || biography FROM writers UNION ALL SELECT text FROM notes ORDER BY 1").
					Scan(t.Context(), &held))
				slices.Sort(held)
				want := []string{"Bob, other life", "Zoë, old life", "foreign", "right", "second", "third"}
				if !slices.Equal(held, want) {
					t.Errorf("held are %q, want %q", held, want)
				}
				foreign := domain.CanonicalTuple([]string{"a", "3"})
				for _, row := range []string{foreign, domain.CanonicalTuple([]string{"b", "1"}), "a", "' OR 1=1 --"} {
					_, err := a.correct(t.Context(), "1",
						domain.Correction{Table: "writers", Column: "name", Value: "wrong"},
						domain.Correction{Table: "notes", Column: "text", Row: row, Value: "wrong"})
					if !errors.Is(err, domain.ErrInvalid) {
						t.Errorf("%q: %v", row, err)
					}
				}
				n := a.text(t, "SELECT count(*) FROM writers, notes WHERE name = 'wrong' OR text = 'wrong'")
				if n != "0" {
					t.Error("a correction that was refused has been written")
				}
			})
		})
	}
}

// Two corrections concern columns of the same category. A trigger restores the old value of one column. The store must
// notice this, although the other correction is in the database.
func TestADatabaseThatUndoesOneOfTwoCorrectionsOfACategoryFailsBoth(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		more := sqliteTrigger("AFTER UPDATE", "writers", "UPDATE writers SET biography = OLD.biography WHERE id = OLD.id;")
		if isPostgres(db) {
			more = function("BEFORE UPDATE", "writers", "NEW.biography := OLD.biography; RETURN NEW;")
		}
		a := open(t, db, app.Config{Models: []any{(*writer)(nil), (*note)(nil)}}, writers(more...)...)
		_, err := a.correct(t.Context(), "1",
			domain.Correction{Table: "writers", Column: "name", Value: "Zoë"},
			domain.Correction{Table: "writers", Column: "biography", Value: "new life"})
		if !errors.Is(err, domain.ErrLeftOver) {
			t.Errorf("got %v", err)
		}
	})
}

// The data map states no length for the column, so only the database can refuse the value.
func TestACorrectionThatIsTooLongForTheDatabaseIsAConflict(t *testing.T) {
	t.Parallel()
	db := onPostgres(t)
	a := open(t, db, app.Config{Models: []any{(*writer)(nil), (*note)(nil)}},
		writers("ALTER TABLE writers ALTER COLUMN name TYPE varchar(5)")...)
	_, err := a.correct(t.Context(), "1", domain.Correction{Table: "writers", Column: "name", Value: "a longer name"})
	if !errors.Is(err, domain.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

// The database allows NULL and the empty text in the key of "memos". A correction with an empty Row applies to all
// rows. Therefore, an exported record must not have an empty Row, and its Row denotes no other row.
func TestARowWithoutAKeyIsNotCorrectedWithAllRows(t *testing.T) {
	t.Parallel()
	type memo struct {
		bun.BaseModel `bun:"table:memos" subject:"owned"`
		ID            string  `bun:"id,pk"`
		WriterID      int64   `bun:"writer_id"`
		Writer        *writer `bun:"rel:belongs-to,join:writer_id=id"`
		Text          string  `bun:"text" pii:"communication"`
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: []any{(*writer)(nil), (*memo)(nil)}},
			"CREATE TABLE writers (id bigint PRIMARY KEY, name text, biography text)",
			"CREATE TABLE memos (id varchar(9) UNIQUE, writer_id bigint REFERENCES writers, text text)",
			"INSERT INTO writers VALUES (1, 'Zoe', 'life')",
			"INSERT INTO memos VALUES (NULL, 1, 'first'), ('', 1, 'second'), ('a', 1, 'third')")
		rows := map[string]bool{}
		bundle, err := a.export(t.Context(), "1")
		must(t, err)
		for _, record := range bundle.Records {
			if record.Source == "memos" {
				rows[record.Row] = true
			}
		}
		if len(rows) != 3 || rows[""] {
			t.Errorf("rows %q", slices.Collect(maps.Keys(rows)))
		}
		for row := range rows {
			_, err := a.correct(t.Context(), "1", domain.Correction{Table: "memos", Column: "text", Row: row, Value: "new"})
			must(t, err)
			if n := a.text(t, "SELECT count(*) FROM memos WHERE text = 'new'"); n != "1" {
				t.Errorf("row %q: %s rows are corrected", row, n)
			}
			execute(t, db, "UPDATE memos SET text = 'old'")
		}
	})
}
