package bunstore_test

import (
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

var sqliteCascadeCases = map[string]cascadeCase{
	"a search index with its own rows": {
		forum: forum{rows: []string{
			"CREATE VIRTUAL TABLE found USING fts5(title)", "INSERT INTO found (rowid, title) SELECT id, title FROM articles",
			"CREATE TRIGGER t AFTER DELETE ON articles BEGIN DELETE FROM found WHERE rowid = OLD.id; END",
		}},
		cascaded: map[string]int64{"found": 2},
	},
	"a search index of the table": {
		forum: forum{rows: []string{
			"CREATE VIRTUAL TABLE found USING fts5(title, content='articles', content_rowid='id')",
			"INSERT INTO found (found) VALUES ('rebuild')",
			"CREATE TRIGGER t AFTER DELETE ON articles BEGIN" +
				" INSERT INTO found (found, rowid, title) VALUES ('delete', OLD.id, OLD.title); END",
		}},
		cascaded: map[string]int64{"found": 2},
	},
	"a search index of remarks of other people": {
		forum: forum{remarkKey: cascade, rows: []string{
			"CREATE VIRTUAL TABLE found USING fts5(body)", "INSERT INTO remarks VALUES (100, 2, 10, NULL, 'theirs')",
			"CREATE TRIGGER t AFTER DELETE ON remarks BEGIN DELETE FROM found WHERE rowid = OLD.id; END",
		}},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a trigger that replaces rows": {
		forum: forum{also: []string{
			"CREATE UNIQUE INDEX bodies ON remarks (body)",
		}, rows: []string{
			"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')",
			"CREATE TRIGGER t AFTER DELETE ON articles BEGIN" +
				" INSERT OR REPLACE INTO remarks VALUES (OLD.id + 1000, 2, 20, NULL, 'theirs'); END",
		}},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a table without row ids": {
		forum: forum{also: []string{
			"CREATE TABLE likes (member text, article_id bigint " + cascade +
				", PRIMARY KEY (member, article_id)) WITHOUT ROWID",
		}, rows: []string{
			"INSERT INTO likes VALUES ('x', 10), ('y', 10), ('x', 20)",
			"CREATE TRIGGER t AFTER DELETE ON articles BEGIN INSERT INTO likes VALUES ('z' || OLD.id, 20); END",
		}},
		cascaded: map[string]int64{"likes": 2},
	},
	"names in other cases and quotes": {
		forum: forum{also: []string{
			"CREATE TABLE [My Likes] (id integer PRIMARY KEY, article_id bigint REFERENCES ARTICLES ON DELETE CASCADE)",
		}, rows: []string{
			"INSERT INTO [my likes] VALUES (1, 10), (2, 20)",
			"CREATE TABLE hits (article bigint)", "INSERT INTO hits VALUES (10), (20)",
			"CREATE TRIGGER t AFTER DELETE ON Articles BEGIN DELETE FROM `HITS` WHERE article = OLD.id; END",
		}},
		cascaded: map[string]int64{"My Likes": 1, "hits": 1},
	},
	"a view of a table": {
		forum: forum{rows: append(viewOfArticles(),
			"CREATE TABLE likes (id bigint, article bigint REFERENCES stored (id) ON DELETE CASCADE)",
			"INSERT INTO likes VALUES (1, 10), (2, 20)",
			"CREATE TABLE drafts (id bigint, article bigint REFERENCES stored (id) ON DELETE SET NULL)",
			"INSERT INTO drafts VALUES (1, 10)")},
		cascaded: map[string]int64{"likes": 1}, deleted: map[string]int64{"articles": 2},
	},
	"a view of a table with rows of other people": {
		forum: forum{remarkKey: cascade, rows: append(
			viewOfArticles(), "INSERT INTO remarks VALUES (100, 2, 10, NULL, 'x')")},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a view whose trigger deletes rows of other people": {
		forum: forum{rows: append(viewOfArticles(), "DROP TRIGGER d",
			"CREATE TRIGGER d INSTEAD OF DELETE ON articles BEGIN DELETE FROM stored; END")},
		refused: "articles: the database would delete further rows (1)",
	},
	"a chain of triggers": {
		forum: forum{rows: []string{
			"CREATE TABLE hits (article bigint)", "CREATE TABLE logs (article bigint)",
			"INSERT INTO receipts VALUES (200, 2, NULL, '5')",
			"CREATE TRIGGER t AFTER DELETE ON articles BEGIN INSERT INTO logs VALUES (OLD.id); END",
			"CREATE TRIGGER u AFTER INSERT ON logs BEGIN UPDATE hits SET article = 1; DELETE FROM receipts; END",
		}},
		refused: "receipts: the database would delete further rows (1)",
	},
}

func viewOfArticles() []string {
	return []string{
		"ALTER TABLE articles RENAME TO stored", "ALTER TABLE stored RENAME COLUMN title TO t",
		"CREATE VIEW articles AS SELECT id, member_id, t AS title FROM stored",
		"CREATE TRIGGER d INSTEAD OF DELETE ON articles BEGIN DELETE FROM stored WHERE id = OLD.id; END",
	}
}

func TestWhatSQLiteDeletesBesidesIsCountedOrRefused(t *testing.T) {
	t.Parallel()
	for name, c := range sqliteCascadeCases {
		t.Run(name, func(t *testing.T) {
			db := databases.SQLite(t)
			c.create(t, db)
			c.run(t, db)
		})
	}
}
