package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// Members write articles and remarks on articles. The database has foreign keys and tables that the data map does not
// have. An erasure deletes articles and remarks. It keeps members and receipts.
type (
	forumMember struct {
		bun.BaseModel `bun:"table:members"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	}
	article struct {
		bun.BaseModel `bun:"table:articles" subject:"owned,trusted"`
		ID            int64        `bun:"id,pk"`
		MemberID      int64        `bun:"member_id"`
		Member        *forumMember `bun:"rel:belongs-to,join:member_id=id"`
		Title         string       `bun:"title" pii:"communication"`
	}
	remark struct {
		bun.BaseModel `bun:"table:remarks" subject:"owned"`
		ID            int64        `bun:"id,pk"`
		MemberID      int64        `bun:"member_id"`
		Member        *forumMember `bun:"rel:belongs-to,join:member_id=id"`
		ArticleID     *int64       `bun:"article_id"`
		ParentID      *int64       `bun:"parent_id"`
		Body          string       `bun:"body" pii:"communication"`
	}
	receipt struct {
		bun.BaseModel `bun:"table:receipts"`
		ID            int64        `bun:"id,pk"`
		MemberID      int64        `bun:"member_id"`
		Member        *forumMember `bun:"rel:belongs-to,join:member_id=id"`
		ArticleID     *int64       `bun:"article_id" pii:"financial,erasure:retain,reason:'tax law'"`
		Amount        string       `bun:"amount" pii:"financial,erasure:retain,reason:'tax law'"`
	}
)

// forum holds the definitions of the tables, with a place for the foreign keys that the cases vary.
type forum struct {
	remarkKey, parentKey, receiptKey string   // such as "REFERENCES articles ON DELETE CASCADE"
	also                             []string // further statements after the tables, before the rows
	rows                             []string // further statements after the rows
}

func (f forum) create(t testing.TB, db *bun.DB) {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	execute(t, db,
		"CREATE TABLE members (id bigint PRIMARY KEY, email text)",
		"CREATE TABLE articles (id bigint PRIMARY KEY, member_id bigint REFERENCES members, title text)",
		"CREATE TABLE remarks (id bigint PRIMARY KEY, member_id bigint REFERENCES members, article_id bigint "+f.remarkKey+
			", parent_id bigint "+f.parentKey+", body text)",
		"CREATE TABLE receipts (id bigint PRIMARY KEY, member_id bigint REFERENCES members, article_id bigint "+
			f.receiptKey+", amount text)")
	execute(t, db, f.also...)
	execute(t, db,
		"INSERT INTO members (id, email) VALUES (1, 'ann@example.com'), (2, 'bob@example.com')",
		"INSERT INTO articles VALUES (10, 1, 'Cats'), (11, 1, 'Dogs'), (20, 2, 'Birds')")
	execute(t, db, f.rows...)
}

var forumTables = []string{"members", "articles", "remarks", "receipts"}

// content returns the rows of the tables in the data map.
func (f forum) content(t testing.TB, db bun.IDB) map[string][]string {
	t.Helper()
	content := map[string][]string{}
	for _, name := range forumTables {
		var rows []map[string]any
		must(t, db.NewSelect().Table(name).OrderExpr("id").Scan(t.Context(), &rows))
		for _, row := range rows {
			content[name] = append(content[name], fmt.Sprint(row))
		}
	}
	return content
}

func newEraser(t testing.TB, db *bun.DB, models ...any) (*bunstore.Store, *erasure.Eraser) {
	t.Helper()
	dataMap := mapOf(t, db, models)
	store := storeOf(t, db, dataMap, bunstore.Options{})
	eraser, err := erasure.NewEraser(erasure.Config{Clock: fixedClock{}, IDs: &serialIDs{}, DataMap: dataMap})
	must(t, err)
	return store, eraser
}

type fixedClock struct{}

func (fixedClock) Now() time.Time { return noon }

type serialIDs struct{ n int }

func (s *serialIDs) NewID() string { s.n++; return fmt.Sprintf("%08d", s.n) }

func (f forum) eraser(t testing.TB, db *bun.DB) (*bunstore.Store, *erasure.Eraser) {
	t.Helper()
	return newEraser(t, db, (*forumMember)(nil), (*article)(nil), (*remark)(nil), (*receipt)(nil))
}

const cascade = "REFERENCES articles (id) ON DELETE CASCADE"

type cascadeCase struct {
	forum
	refused  string // a part of the message, or "" if the erasure succeeds
	cascaded map[string]int64
	deleted  map[string]int64
}

var cascadeCases = map[string]cascadeCase{
	"rows of other people": {
		forum: forum{remarkKey: cascade, rows: []string{
			"INSERT INTO remarks VALUES (100, 1, 10, NULL, 'mine'), (101, 2, 10, NULL, 'theirs')",
			"INSERT INTO remarks VALUES (102, 2, 11, NULL, 'theirs')",
		}},
		refused: "remarks: the database would delete further rows (2)",
	},
	"rows of the person": {
		forum: forum{remarkKey: cascade, rows: []string{
			"INSERT INTO remarks VALUES (100, 1, 10, NULL, 'mine'), (101, 1, 20, NULL, 'mine'), (102, 2, 20, NULL, 'theirs')",
		}},
		deleted: map[string]int64{"articles": 2, "remarks": 2},
	},
	"replies of the person to itself": {
		forum: forum{parentKey: "REFERENCES remarks (id) ON DELETE CASCADE", rows: []string{
			"INSERT INTO remarks VALUES (100, 1, 10, NULL, 'mine')",
			"INSERT INTO remarks VALUES (101, 1, 10, 100, 'mine'), (102, 1, 10, 101, 'mine')",
		}},
		deleted: map[string]int64{"articles": 2, "remarks": 3},
	},
	"replies of other people": {
		forum: forum{parentKey: "REFERENCES remarks (id) ON DELETE CASCADE", rows: []string{
			"INSERT INTO remarks VALUES (100, 1, 10, NULL, 'mine')",
			"INSERT INTO remarks VALUES (101, 2, 20, 100, 'theirs'), (102, 1, 20, 101, 'mine')",
		}},
		refused: "remarks: the database would delete further rows (1)",
	},
	"retained rows of the person": {
		forum:   forum{receiptKey: cascade, rows: []string{"INSERT INTO receipts VALUES (200, 1, 10, '5')"}},
		refused: "receipts: the database would delete further rows (1)",
	},
	"unmapped tables, one below the other": {
		forum: forum{also: []string{
			"CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint " + cascade + ")",
			"CREATE TABLE like_logs (id bigint, like_id bigint REFERENCES likes (id) ON DELETE CASCADE)",
		}, rows: []string{
			"INSERT INTO likes VALUES (1, 10), (2, 11), (3, 20)", "INSERT INTO like_logs VALUES (1, 1), (2, 1), (3, 2), (4, 3)",
		}},
		cascaded: map[string]int64{"likes": 2, "like_logs": 3},
	},
	"people behind an unmapped table": {
		forum: forum{also: []string{
			"DROP TABLE remarks",
			"CREATE TABLE threads (id bigint PRIMARY KEY, article_id bigint " + cascade + ")",
			"CREATE TABLE remarks (id bigint PRIMARY KEY, member_id bigint REFERENCES members, article_id bigint " +
				"REFERENCES threads (id) ON DELETE CASCADE, parent_id bigint, body text)",
		}, rows: []string{
			"INSERT INTO threads VALUES (1, 10)", "INSERT INTO remarks VALUES (100, 2, 1, NULL, 'theirs')",
		}},
		refused: "remarks: the database would delete further rows (1)",
	},
	"references that become NULL": {
		forum: forum{remarkKey: "REFERENCES articles (id) ON DELETE SET NULL", also: []string{
			"CREATE TABLE drafts (id bigint PRIMARY KEY, article_id bigint DEFAULT 20 " +
				"REFERENCES articles (id) ON DELETE SET DEFAULT)",
		}, rows: []string{
			"INSERT INTO remarks VALUES (100, 1, 10, NULL, 'mine'), (101, 2, 10, NULL, 'theirs')",
			"INSERT INTO drafts VALUES (1, 10), (2, 11), (3, 20)",
		}},
		cascaded: map[string]int64{"remarks": 1, "drafts": 2},
	},
	"references below a table that become NULL": {
		forum: forum{also: []string{
			"CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint " + cascade + ")",
			"CREATE TABLE badges (id bigint, like_id bigint REFERENCES likes (id) ON DELETE SET NULL)",
		}, rows: []string{"INSERT INTO likes VALUES (1, 10), (3, 20)", "INSERT INTO badges VALUES (1, 1), (2, 3)"}},
		cascaded: map[string]int64{"likes": 1, "badges": 1},
	},
	"a retained reference": {
		forum: forum{
			receiptKey: "REFERENCES articles (id) ON DELETE SET NULL",
			rows:       []string{"INSERT INTO receipts VALUES (200, 2, 10, '5'), (201, 2, 20, '5')"},
		},
		refused: "receipts.article_id: a foreign key (ON DELETE SET NULL or SET DEFAULT) would change this retained " +
			"column (rows: 1)",
	},
	"a trigger on an unmapped table": {
		forum: forum{also: []string{"CREATE TABLE hits (article bigint)"}, rows: []string{
			"INSERT INTO hits VALUES (10), (10), (20)",
			onDelete("articles", "DELETE FROM hits WHERE article = OLD.id;"),
		}},
		cascaded: map[string]int64{"hits": 2},
	},
	"a trigger that deletes rows of other people": {
		forum: forum{rows: []string{
			"INSERT INTO remarks VALUES (100, 2, 10, NULL, 'theirs'), (101, 2, 20, NULL, 'theirs')",
			onDelete("articles", "DELETE FROM remarks WHERE article_id = OLD.id;"),
		}},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a trigger that inserts beside the deleted row": {
		forum: forum{remarkKey: cascade, rows: []string{
			"INSERT INTO remarks VALUES (100, 2, 10, NULL, 'theirs'), (101, 2, 20, NULL, 'theirs')",
			onDelete("articles", "INSERT INTO remarks VALUES (OLD.id + 1000, 2, 20, NULL, 'deleted');"),
		}},
		refused: "remarks: the database would delete further rows (1)",
	},
	"a trigger that restores the deleted row": {
		forum: forum{remarkKey: cascade, rows: []string{
			"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')",
			onDelete("articles", "DELETE FROM remarks WHERE id = 100; INSERT INTO remarks VALUES (100, 2, 20, NULL, 'x');"),
		}},
		deleted: map[string]int64{"articles": 2},
	},
	"a table of the application that is called like those of habeas": {
		forum: forum{
			also: []string{"CREATE TABLE habeas_likes (id bigint, article_id bigint " + cascade + ")"},
			rows: []string{"INSERT INTO habeas_likes VALUES (1, 10), (2, 11), (3, 20)"},
		},
		cascaded: map[string]int64{"habeas_likes": 2},
	},
	"a trigger that inserts in place of the deleted row": {
		forum: forum{rows: []string{
			"INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs'), (101, 2, 20, NULL, 'theirs')",
			onDelete("articles", "DELETE FROM remarks WHERE id = 101;"+
				" INSERT INTO remarks VALUES (OLD.id + 1000, 2, 20, NULL, 'deleted');"),
		}},
		refused: "remarks: the database would delete further rows (1)",
	},
	"references that become NULL twice, and in deleted rows": {
		forum: forum{also: []string{
			"CREATE TABLE drafts (a bigint REFERENCES articles (id) ON DELETE SET NULL," +
				" b bigint REFERENCES articles (id) ON DELETE SET NULL)",
			"CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint " + cascade +
				", after bigint REFERENCES likes (id) ON DELETE SET NULL)",
		}, rows: []string{
			"INSERT INTO drafts VALUES (10, 11), (11, 20), (20, 20)",
			"INSERT INTO likes VALUES (1, 10, NULL), (2, 11, 1), (3, 20, NULL), (4, 20, 1)",
		}},
		cascaded: map[string]int64{"drafts": 2, "likes": 3},
	},
	"a trigger of an unmapped table": {
		forum: forum{also: []string{
			"CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint " + cascade + ")",
		}, rows: []string{
			"INSERT INTO likes VALUES (1, 10)", "INSERT INTO receipts VALUES (200, 2, NULL, '5')",
			onDelete("likes", "DELETE FROM receipts;"),
		}},
		refused: "receipts: the database would delete further rows (1)",
	},
}

// onDelete returns a statement that creates a trigger. The method forDatabase completes it.
func onDelete(table, body string) string { return "TRIGGER DELETE " + table + " " + body }

// onChange is like onDelete, for a trigger after an update.
func onChange(table, body string) string { return "TRIGGER UPDATE " + table + " " + body }

func (f forum) forDatabase(name dialect.Name) forum {
	var rows []string
	for _, statement := range f.rows {
		text, ok := strings.CutPrefix(statement, "TRIGGER ")
		event, text, _ := strings.Cut(text, " ")
		table, body, _ := strings.Cut(text, " ")
		switch {
		case !ok:
			rows = append(rows, statement)
		case name == dialect.SQLite:
			rows = append(rows, "CREATE TRIGGER t AFTER "+event+" ON "+table+" BEGIN "+body+" END")
		default:
			rows = append(rows,
				"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+body+" RETURN NULL; END $$",
				"CREATE TRIGGER t AFTER "+event+" ON "+table+" FOR EACH ROW EXECUTE FUNCTION f()")
		}
	}
	f.rows = rows
	return f
}

func TestWhatTheDatabaseDeletesBesidesIsCountedOrRefused(t *testing.T) {
	t.Parallel()
	for name, c := range cascadeCases {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				c.forDatabase(db.Dialect().Name()).create(t, db)
				c.run(t, db)
			})
		})
	}
}

// run rehearses an erasure, then erases in a transaction of the application, which it rolls back, and in a transaction
// of the store. All of them must have the same result.
func (c cascadeCase) run(t *testing.T, db *bun.DB) {
	t.Helper()
	store, eraser := c.eraser(t, db)
	ann, before := domain.Subject{ID: subjectID(t, "1")}, c.content(t, db)
	unchanged := func() {
		t.Helper()
		if after := c.content(t, db); !maps.EqualFunc(before, after, slices.Equal) {
			t.Errorf("the content changed from %v to %v", before, after)
		}
	}
	rehearsal, err := eraser.Rehearse(t.Context(), store, ann)
	must(t, err)
	refused := ""
	if rehearsal.Refused != nil {
		refused = rehearsal.Refused.Message
		if target := rehearsal.Refused.Target; !strings.HasPrefix(c.refused, target) || target == "" {
			t.Errorf("the rehearsal names the target %q", target)
		}
	}
	if c.refused == "" && refused != "" || !strings.Contains(refused, c.refused) {
		t.Errorf("the rehearsal was refused with %q, want %q", refused, c.refused)
	}
	if !maps.Equal(rehearsal.Cascaded, c.cascaded) {
		t.Errorf("the rehearsal counts %v, want %v", rehearsal.Cascaded, c.cascaded)
	}
	unchanged()
	erase := func(sessions ports.SessionFactory) {
		t.Helper()
		var result domain.ErasureResult
		var trail []domain.AuditEvent
		err := sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
			if result, err = eraser.Erase(ctx, s, ann); err == nil {
				trail, err = s.Audit().Trail(ctx, ann.ID)
			}
			return err
		})
		c.expect(t, result, trail, err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	joined, err := store.Join(tx)
	must(t, err)
	erase(joined)
	must(t, tx.Rollback())
	unchanged()
	erase(store)
	if c.refused != "" {
		unchanged()
	}
}

func (c cascadeCase) expect(t *testing.T, result domain.ErasureResult, trail []domain.AuditEvent, err error) {
	t.Helper()
	switch {
	case c.refused != "":
		if !errors.Is(err, domain.ErrConflict) || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("got %v, want %q", err, c.refused)
		}
		return
	case err != nil:
		t.Errorf("refused: %v", err)
		return
	}
	if !maps.Equal(result.Cascaded, c.cascaded) {
		t.Errorf("cascaded %v, want %v", result.Cascaded, c.cascaded)
	}
	var total any
	for _, n := range c.cascaded {
		sum, _ := total.(int64)
		total = sum + n
	}
	for _, event := range trail {
		if event.EventType == domain.EventErasureLocalCompleted && event.Payload["cascaded"] != total {
			t.Errorf("the trail says %v, want %v", event.Payload["cascaded"], total)
		}
	}
	for table, n := range c.deleted {
		if result.Deleted[table] != n {
			t.Errorf("deleted %d of %s, want %d", result.Deleted[table], table, n)
		}
	}
}
