package bunstore_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// A foreign key deletes rows of an unmapped table, and a trigger of this table restores data of the person. No table of
// the data map has a trigger.
func TestWhatATriggerOfAnUnmappedTableRestoresIsErasedOrRefused(t *testing.T) {
	t.Parallel()
	const again = " INSERT INTO likes VALUES (OLD.id + 1, OLD.article_id + 500);"
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"a row": {"INSERT INTO articles VALUES (OLD.article_id + 500, 1, 'Cats');", nil},
		"a row, again and again": {
			"INSERT INTO articles VALUES (OLD.article_id + 500, 1, 'Cats');" + again, domain.ErrLeftOver,
		},
		"a value":      {"UPDATE members SET email = 'ann@example.com' WHERE id = 1;", nil},
		"a copy of it": {"UPDATE members SET note = 'ann@example.com' WHERE id = 1;", domain.ErrLeftOver},
	} {
		for _, deferred := range []bool{false, true} {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				var trigger []string
				switch isPostgres := db.Dialect().Name() == dialect.PG; {
				case isPostgres && deferred:
					trigger = plpgsql("CREATE CONSTRAINT TRIGGER g AFTER DELETE ON likes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW",
						"BEGIN "+c.body+" RETURN NULL; END")
				case isPostgres:
					trigger = plpgsql("CREATE TRIGGER g AFTER DELETE ON likes FOR EACH ROW", "BEGIN "+c.body+" RETURN NULL; END")
				case deferred:
					return // SQLite has no such triggers
				default:
					trigger = []string{"CREATE TRIGGER g AFTER DELETE ON likes BEGIN " + c.body + " END"}
				}
				f := forum{
					also: []string{
						"CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint " + cascade + ")",
						"ALTER TABLE members ADD COLUMN note text",
					},
					rows: slices.Concat([]string{"INSERT INTO likes VALUES (1, 10)"}, trigger),
				}
				f.create(t, db)
				store, eraser := f.eraser(t, db)
				err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					_, err := eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, "1")})
					return err
				})
				if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), "articles") &&
					!strings.Contains(err.Error(), "members.note") {
					t.Errorf("%s, deferred %t: got %v", name, deferred, err)
				}
				var left int
				must(t, db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM articles WHERE member_id = 1)"+
					" + (SELECT count(*) FROM members WHERE 'ann@example.com' IN (email, note))").Scan(&left))
				if err == nil && left > 0 || err != nil && left != 3 {
					t.Errorf("%s, deferred %t: %d rows are left after %v", name, deferred, left, err)
				}
			})
		}
	}
}

// A row refers to a deleted row by a deferred foreign key, so the database refuses the commit. The error names the
// table, also on SQLite, whose own error does not.
func TestADeferredKeyThatRefusesTheCommitIsNamed(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		f := forum{
			also: []string{"CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint REFERENCES articles (id)" +
				" DEFERRABLE INITIALLY DEFERRED)"},
			rows: []string{"INSERT INTO likes VALUES (1, 10)"},
		}
		f.create(t, db)
		if db.Dialect().Name() == dialect.SQLite { // rows that were broken before are not the reason
			execute(t, db, "PRAGMA foreign_keys = OFF", "CREATE TABLE broken (id bigint REFERENCES articles (id)"+
				" DEFERRABLE INITIALLY DEFERRED)", "INSERT INTO broken VALUES (7)", "PRAGMA foreign_keys = ON")
		}
		before := f.content(t, db)
		store, eraser := f.eraser(t, db)
		err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, "1")})
			return err
		})
		if !errors.Is(err, domain.ErrConflict) || !strings.Contains(err.Error(), "table likes") {
			t.Errorf("got %v", err)
		}
		if after := f.content(t, db); !maps.EqualFunc(before, after, slices.Equal) {
			t.Errorf("the content changed from %v to %v", before, after)
		}
	})
}
