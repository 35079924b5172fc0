package bunstore_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// plpgsql returns the statements that create a trigger of PostgreSQL.
func plpgsql(trigger, body string) []string {
	return []string{
		"CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$ " + body + " $$", trigger + " EXECUTE FUNCTION g()",
	}
}

const afterArticles = "CREATE TRIGGER g AFTER DELETE ON articles FOR EACH ROW"

// partitioned are tables with partitions in place of the plain ones.
func partitioned(also ...string) []string {
	return append([]string{
		"DROP TABLE receipts", "DROP TABLE remarks", "DROP TABLE articles",
		"CREATE TABLE articles (id bigint PRIMARY KEY, member_id bigint REFERENCES members, title text)" +
			" PARTITION BY RANGE (id)",
		"CREATE TABLE articles_1 PARTITION OF articles FOR VALUES FROM (0) TO (11)",
		"CREATE TABLE articles_2 PARTITION OF articles FOR VALUES FROM (11) TO (1000)",
		"CREATE TABLE remarks (id bigint PRIMARY KEY, member_id bigint REFERENCES members, article_id bigint " + cascade +
			", parent_id bigint, body text) PARTITION BY HASH (id)",
		"CREATE TABLE remarks_1 PARTITION OF remarks FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
		"CREATE TABLE remarks_2 PARTITION OF remarks FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
		"CREATE TABLE receipts (id bigint PRIMARY KEY, member_id bigint, article_id bigint, amount text)",
	}, also...)
}

var postgresCascadeCases = map[string]cascadeCase{
	"partitions with rows of other people": {
		forum: forum{also: partitioned(), rows: []string{
			"INSERT INTO remarks SELECT n, 2, 10, NULL, 'theirs' FROM generate_series(100, 104) AS n",
		}},
		refused: "remarks: the database would delete further rows (5)",
	},
	"partitions with rows of the person": {
		forum: forum{also: partitioned(), rows: []string{
			"INSERT INTO remarks SELECT n, 1, 10, NULL, 'mine' FROM generate_series(100, 104) AS n",
		}},
		deleted: map[string]int64{"articles": 2, "remarks": 5},
	},
	"partitions of an unmapped table": {
		forum: forum{also: partitioned(
			"CREATE TABLE likes (id bigint, article_id bigint "+cascade+") PARTITION BY LIST (id)",
			"CREATE TABLE likes_1 PARTITION OF likes FOR VALUES IN (1)", "CREATE TABLE likes_2 PARTITION OF likes DEFAULT",
		), rows: []string{"INSERT INTO likes VALUES (1, 10), (2, 11), (3, 11), (4, 20)"}},
		cascaded: map[string]int64{"likes": 3},
	},
	"a trigger that rolls its deletion back": {
		forum: forum{rows: append(plpgsql(afterArticles, `BEGIN
				BEGIN DELETE FROM remarks; DELETE FROM hits; RAISE EXCEPTION 'no'; EXCEPTION WHEN raise_exception THEN END;
				RETURN NULL;
			END`), "CREATE TABLE hits (id bigint)", "INSERT INTO hits VALUES (1)",
			"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')")},
		deleted: map[string]int64{"articles": 2},
	},
	"a trigger that rolls the deletion of unmapped rows back": {
		forum: forum{rows: append(plpgsql(afterArticles, `BEGIN
				BEGIN DELETE FROM hits; RAISE EXCEPTION 'no'; EXCEPTION WHEN raise_exception THEN END;
				DELETE FROM hits WHERE id = OLD.id;
				RETURN NULL;
			END`), "CREATE TABLE hits (id bigint)", "INSERT INTO hits VALUES (1), (10), (10)")},
		cascaded: map[string]int64{"hits": 2},
	},
	"a trigger that rolls only some of its deletions back": {
		forum: forum{rows: append(plpgsql(afterArticles, `BEGIN
				BEGIN DELETE FROM remarks; RAISE EXCEPTION 'no'; EXCEPTION WHEN raise_exception THEN END;
				BEGIN DELETE FROM remarks WHERE id = 101; EXCEPTION WHEN raise_exception THEN END;
				RETURN NULL;
			END`), "INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs'), (101, 2, 20, NULL, 'theirs')")},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a trigger with dynamic SQL": {
		forum: forum{rows: append(plpgsql(afterArticles, `BEGIN EXECUTE 'DELETE FROM ' || 'remarks'; RETURN NULL; END`),
			"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')")},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a deferred trigger": {
		forum: forum{rows: append(plpgsql("CREATE CONSTRAINT TRIGGER g AFTER DELETE ON articles"+
			" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW", `BEGIN DELETE FROM remarks; RETURN NULL; END`),
			"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')")},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a deferred trigger that a trigger of an unmapped table sets off": {
		forum: forum{also: []string{
			"CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint " + cascade + ")", "CREATE TABLE logs (id bigint)",
			"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS" +
				" $$ BEGIN INSERT INTO logs VALUES (1); RETURN NULL; END $$",
			"CREATE TRIGGER f AFTER DELETE ON likes FOR EACH ROW EXECUTE FUNCTION f()",
		}, rows: append(plpgsql("CREATE CONSTRAINT TRIGGER g AFTER INSERT ON logs DEFERRABLE INITIALLY DEFERRED"+
			" FOR EACH ROW", `BEGIN DELETE FROM receipts; RETURN NULL; END`),
			"INSERT INTO likes VALUES (1, 10)", "INSERT INTO receipts VALUES (200, 2, NULL, '5')")},
		refused: "receipts: the database would delete further rows (1)",
	},
	"a trigger that sets off one that rolls its deletion back": {
		forum: forum{also: []string{
			"CREATE TABLE logs (id bigint)", "CREATE TABLE hits (id bigint)",
			"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN" +
				" BEGIN DELETE FROM hits; RAISE EXCEPTION 'no'; EXCEPTION WHEN raise_exception THEN END; RETURN NULL; END $$",
			"CREATE TRIGGER f AFTER INSERT ON logs FOR EACH ROW EXECUTE FUNCTION f()",
		}, rows: append(plpgsql(afterArticles, `BEGIN INSERT INTO logs VALUES (1); RETURN NULL; END`),
			"INSERT INTO hits VALUES (1)")},
		deleted: map[string]int64{"articles": 2},
	},
	"a trigger that empties a table": {
		forum: forum{rows: append(plpgsql("CREATE TRIGGER g AFTER DELETE ON articles FOR EACH STATEMENT",
			`BEGIN TRUNCATE receipts; RETURN NULL; END`), "INSERT INTO receipts VALUES (200, 2, NULL, '5')")},
		refused: "receipts: a trigger would empty the table (TRUNCATE)",
	},
	"a trigger that empties an unmapped table": {
		forum: forum{rows: append(plpgsql("CREATE TRIGGER g AFTER DELETE ON articles FOR EACH STATEMENT",
			`BEGIN TRUNCATE hits; INSERT INTO hits VALUES (5); RETURN NULL; END`),
			"CREATE TABLE hits (id bigint) PARTITION BY RANGE (id)", "CREATE TABLE hits_1 PARTITION OF hits DEFAULT",
			"INSERT INTO hits VALUES (1), (2), (3)")},
		cascaded: map[string]int64{"hits": 2},
	},
	"a trigger that inserts in place of the deleted row, in a table without a key": {
		forum: forum{
			also: []string{"ALTER TABLE remarks DROP CONSTRAINT remarks_pkey"},
			rows: append(plpgsql(afterArticles, `BEGIN DELETE FROM remarks WHERE id = 101;
				INSERT INTO remarks VALUES (OLD.id + 1000, 2, 20, NULL, 'deleted'); RETURN NULL; END`),
				"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs'), (101, 2, 20, NULL, 'theirs')"),
		},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a rule": {
		forum: forum{rows: []string{
			"CREATE RULE r AS ON DELETE TO articles DO ALSO DELETE FROM receipts",
			"INSERT INTO receipts VALUES (200, 2, NULL, '5')",
		}},
		refused: "receipts: the database would delete further rows (1)",
	},
	"a trigger that updates a table": {
		forum: forum{rows: append(plpgsql("CREATE TRIGGER g AFTER UPDATE ON members FOR EACH ROW",
			`BEGIN DELETE FROM receipts; RETURN NULL; END`), "INSERT INTO receipts VALUES (200, 2, NULL, '5')")},
		refused: "receipts: the database would delete further rows (1)",
	},
	"a table that inherits": {
		forum: forum{also: []string{
			"CREATE TABLE special (CHECK (id > 0)) INHERITS (remarks)",
			"ALTER TABLE special ADD FOREIGN KEY (article_id) REFERENCES articles (id) ON DELETE CASCADE",
		}, rows: []string{
			"INSERT INTO remarks VALUES (100, 1, 20, NULL, 'mine')", "INSERT INTO special VALUES (101, 2, 10, NULL, 'theirs')",
		}},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a view of a table": {
		forum: forum{also: []string{
			"ALTER TABLE articles RENAME TO stored", "ALTER TABLE stored RENAME COLUMN title TO t",
			"ALTER TABLE stored RENAME COLUMN id TO key",
			"CREATE VIEW articles AS SELECT key AS id, member_id, t AS title FROM stored",
			"CREATE TABLE drafts (id bigint, article bigint REFERENCES stored ON DELETE SET NULL)",
			"CREATE TABLE likes (id bigint, article bigint REFERENCES stored ON DELETE CASCADE)",
		}, rows: []string{"INSERT INTO likes VALUES (1, 10), (2, 20)", "INSERT INTO drafts VALUES (1, 10)"}},
		cascaded: map[string]int64{"likes": 1}, deleted: map[string]int64{"articles": 2},
	},
	"a view of a table with rows of other people": {
		forum: forum{also: []string{
			"ALTER TABLE articles RENAME TO stored",
			"ALTER TABLE stored ADD COLUMN next bigint REFERENCES stored ON DELETE CASCADE",
			"CREATE VIEW articles AS SELECT id, member_id, title FROM stored",
		}, rows: []string{"UPDATE stored SET next = 10 WHERE id = 20"}},
		refused: "articles: the database would delete further rows (1)",
	},
	"a name with quotes": {
		forum: forum{also: []string{
			`CREATE SCHEMA "My Schema"`,
			`CREATE TABLE "My Schema"."Lik""es" ("the id" bigint PRIMARY KEY, a bigint ` + cascade + `)`,
			`CREATE TABLE "My Schema".badges (l bigint REFERENCES "My Schema"."Lik""es" ON DELETE SET NULL)`,
		}, rows: []string{
			`INSERT INTO "My Schema"."Lik""es" VALUES (1, 10), (2, 20)`, `INSERT INTO "My Schema".badges VALUES (1), (2)`,
		}},
		cascaded: map[string]int64{`My Schema.Lik"es`: 1, "My Schema.badges": 1},
	},
}

func TestWhatPostgreSQLDeletesBesidesIsCountedOrRefused(t *testing.T) {
	t.Parallel()
	for name, c := range postgresCascadeCases {
		t.Run(name, func(t *testing.T) {
			db := databases.PostgreSQL(t)
			c.create(t, db)
			c.run(t, db)
		})
	}
}

// The counters of deleted rows are switched off in the database.
func TestRowsAreComparedIfTheDatabaseDoesNotCountThem(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"rows of other people", "rows of the person", "unmapped tables, one below the other",
		"a trigger that inserts beside the deleted row", "a trigger that restores the deleted row",
	} {
		c := cascadeCases[name]
		t.Run(name, func(t *testing.T) {
			driver := databases.Driver{Name: "PostgreSQL", SQL: "pgx"}
			url := driver.NewDatabase(t)
			db := driver.Open(t, url)
			c.forDatabase(dialect.PG).create(t, db)
			execute(t, db, "DO $$ BEGIN"+
				" EXECUTE format('ALTER DATABASE %I SET track_counts = off', current_database()); END $$")
			fresh := driver.Open(t, url)
			var counts string
			must(t, fresh.QueryRowContext(t.Context(), "SHOW track_counts").Scan(&counts))
			if counts != "off" {
				t.Fatalf("track_counts is %s", counts)
			}
			c.run(t, fresh)
		})
	}
}

// The transaction of the application has deleted rows, also in a savepoint that it has rolled back. These rows are not
// rows that the erasure deletes.
func TestEarlierDeletionsOfTheTransactionDoNotCount(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		c := cascadeCases["rows of the person"]
		c.create(t, db)
		execute(t, db, "CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint "+cascade+")",
			"INSERT INTO likes VALUES (1, 10), (2, 20), (3, 20)")
		store, eraser := c.eraser(t, db)
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		defer func() { _ = tx.Rollback() }()
		execute(t, tx, "DELETE FROM remarks WHERE id = 102", "DELETE FROM likes WHERE id = 2", "SAVEPOINT s",
			"DELETE FROM remarks", "DELETE FROM likes", "ROLLBACK TO SAVEPOINT s")
		joined, err := store.Join(tx)
		must(t, err)
		must(t, joined.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			result, err := eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, "1")})
			if result.Deleted["remarks"] != 2 || result.Cascaded["likes"] != 1 || len(result.Cascaded) != 1 {
				t.Errorf("deleted %v, cascaded %v", result.Deleted, result.Cascaded)
			}
			return err
		}))
	})
}

// A foreign key that is added while the store runs counts from the next erasure on.
func TestANewForeignKeyIsNoticed(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		f := forum{rows: []string{"INSERT INTO remarks VALUES (100, 1, 10, NULL, 'mine'), (101, 1, 20, NULL, 'mine')"}}
		f.create(t, db)
		store, eraser := f.eraser(t, db)
		erase := func(id string) domain.ErasureResult {
			t.Helper()
			var result domain.ErasureResult
			must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
				result, err = eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, id)})
				return err
			}))
			return result
		}
		if result := erase("1"); result.Cascaded != nil {
			t.Errorf("cascaded %v", result.Cascaded)
		}
		execute(t, db, "CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint "+cascade+")",
			"INSERT INTO likes VALUES (2, 20)")
		if result := erase("2"); result.Cascaded["likes"] != 1 {
			t.Errorf("cascaded %v", result.Cascaded)
		}
		execute(t, db, "CREATE TABLE logs (id bigint, like_id bigint REFERENCES likes (id) ON DELETE CASCADE)",
			"INSERT INTO articles VALUES (12, 1, 'Fish')", "INSERT INTO likes VALUES (1, 12)",
			"INSERT INTO logs VALUES (1, 1), (2, 1)")
		if result := erase("1"); !maps.Equal(result.Cascaded, map[string]int64{"likes": 1, "logs": 2}) {
			t.Errorf("cascaded %v", result.Cascaded)
		}
		execute(t, db, forum{rows: []string{
			"INSERT INTO articles VALUES (12, 1, 'Fish')", "INSERT INTO likes VALUES (1, 12)",
			"INSERT INTO receipts VALUES (200, 2, NULL, '5')", onDelete("likes", "DELETE FROM receipts;"),
		}}.forDatabase(db.Dialect().Name()).rows...)
		err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, "1")})
			return err
		})
		if !errors.Is(err, domain.ErrConflict) {
			t.Errorf("got %v", err)
		}
	})
}

// A hook deletes rows before the steps. The erasure does not count them.
func TestRowsThatAHookDeletesDoNotCount(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		c := cascadeCases["rows of other people"]
		c.create(t, db)
		store, eraser := c.eraser(t, db)
		must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			tx, err := bunstore.Tx(s)
			must(t, err)
			must(t, errOf(s.Subjects().Lock(ctx, subjectID(t, "1"), noon)))
			execute(t, tx, "DELETE FROM remarks WHERE member_id = 2")
			applied, err := s.Subjects().Apply(ctx, subjectID(t, "1"), eraser.Plan().Local())
			if len(applied.Cascaded) != 0 {
				t.Errorf("applied %+v", applied)
			}
			return err
		}))
	})
}

type movingRemark struct {
	bun.BaseModel `bun:"table:remarks"`
	ID            int64        `bun:"id,pk"`
	MemberID      int64        `bun:"member_id"`
	Member        *forumMember `bun:"rel:belongs-to,join:member_id=id"`
	Body          string       `bun:"body" pii:"communication,erasure:anonymize"`
}

// An update that moves a row to another partition counts as a deletion in the statistics of PostgreSQL.
func TestARowThatMovesToAnotherPartitionIsNotGone(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	f := forum{also: []string{
		"DROP TABLE remarks",
		"CREATE TABLE remarks (id bigint, member_id bigint REFERENCES members, article_id bigint " + cascade +
			", parent_id bigint, body text) PARTITION BY LIST (body)",
		"CREATE TABLE remarks_1 PARTITION OF remarks FOR VALUES IN ('mine')",
		"CREATE TABLE remarks_2 PARTITION OF remarks DEFAULT",
	}, rows: []string{"INSERT INTO remarks VALUES (100, 1, 20, NULL, 'mine'), (101, 2, 20, NULL, 'theirs')"}}
	f.create(t, db)
	a := existingApplication(t, db, nil, (*forumMember)(nil), (*article)(nil), (*movingRemark)(nil))
	wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize members": 1, "delete articles": 2, "anonymize remarks": 1})
	execute(t, db, "INSERT INTO articles VALUES (30, 1, 'Cats')", "INSERT INTO remarks VALUES (102, 2, 30, NULL, 'mine')",
		"INSERT INTO remarks VALUES (103, 1, 20, NULL, 'mine')")
	err := a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		must(t, errOf(s.Subjects().Lock(ctx, subjectID(t, "1"), noon)))
		_, err := s.Subjects().Apply(ctx, subjectID(t, "1"), a.plan.Local())
		return err
	})
	const want = "remarks: the database would delete further rows (1)"
	if !errors.Is(err, domain.ErrConflict) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// vacuumed is a query hook that compacts a table in another session before an erasure first reads it. The table then
// has new storage, as after TRUNCATE. From then on, the erasure holds a lock on the table.
type vacuumed struct {
	t    *testing.T
	db   *bun.DB
	done bool
}

func (v *vacuumed) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if !v.done && strings.Contains(event.Query, `FROM "receipts"`) {
		v.done = true
		execute(v.t, v.db, "VACUUM FULL receipts")
	}
	return ctx
}

func (*vacuumed) AfterQuery(context.Context, *bun.QueryEvent) {}

func TestATableThatAnotherSessionCompactsIsNotEmptied(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	f := forum{rows: append(plpgsql(afterArticles, `BEGIN RETURN NULL; END`),
		"INSERT INTO receipts VALUES (200, 2, NULL, '5')")}
	f.create(t, db)
	hook := &vacuumed{t: t, db: db}
	store, eraser := f.eraser(t, databases.WithHook(db, hook))
	must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, "1")})
		return err
	}))
	if !hook.done {
		t.Error("nothing was compacted")
	}
}
