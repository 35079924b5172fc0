package schemas

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// cells returns the rows of a query as one text, with "anon" for the random values of an erasure and "-" for NULL.
func (a *application) cells(t testing.TB, query string) string {
	t.Helper()
	rows, err := a.db.QueryContext(t.Context(), query)
	must(t, err)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	must(t, err)
	var lines []string
	for rows.Next() {
		values, targets := make([]*string, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		must(t, rows.Scan(targets...))
		line := make([]string, len(values))
		for i, value := range values {
			switch {
			case value == nil:
				line[i] = "-"
			case strings.HasPrefix(*value, "anon-"):
				line[i] = "anon"
			default:
				line[i] = *value
			}
		}
		lines = append(lines, strings.Join(line, " "))
	}
	must(t, rows.Err())
	return strings.Join(lines, "; ")
}

// left maps queries to their expected results after an erasure of trader 1.
var left = map[string]string{
	"SELECT id, sender_id, recipient_id, body, folder, lang FROM messages ORDER BY id": "" +
		"1 - 2 anon folder en; 2 2 1 body anon en; 3 - 1 anon anon en; 4 2 3 body folder en",
	"SELECT id, name FROM attachments ORDER BY id": "2 name; 4 name",
	"SELECT id, buyer_id, seller_id, address, account, rating FROM purchases ORDER BY id": "" +
		"1 2 3 address account rating; 2 1 2 anon account anon; 3 2 1 address anon anon",
	"SELECT follower_id, followed_id FROM follows": "2 3",
	"SELECT id, subject_type, subject_id, text FROM reports ORDER BY id": "" +
		"2 purchase 1 text; 3 purchase 2 anon; 4 trader 2 text; 5 Member 1 text",
	"SELECT member_id, group_id, role FROM group_members": "2 1 x",
	"SELECT id, email FROM market_members ORDER BY id":    "1 anon; 2 b; 3 c",
}

func (a *application) expectLeft(t *testing.T) {
	t.Helper()
	for query, want := range left {
		if got := a.cells(t, query); got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestEachPersonsPartOfARowIsErased(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: market}, marketTables()...)
		result, err := a.erase(t.Context(), "1")
		must(t, err)
		if want := map[string]int64{"attachments": 2, "follows": 3, "reports": 1, "group_members": 1}; !maps.Equal(
			result.Deleted, want) {
			t.Errorf("deleted %v, want %v", result.Deleted, want)
		}
		a.expectLeft(t)
		_, err = a.erase(t.Context(), "1")
		must(t, err)
		a.expectLeft(t)
	})
}

// If a table has a trigger, the store reads the rows again after each step of the erasure. The result must be the same
// as without a trigger.
func TestEachPersonsPartOfARowIsErasedWhereTriggersAre(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := sqliteTrigger("AFTER UPDATE", "messages", "SELECT 1;")
		if isPostgres(db) {
			trigger = function("AFTER UPDATE", "messages", "RETURN NULL;")
		}
		a := open(t, db, app.Config{Models: market}, append(marketTables(), trigger...)...)
		_, err := a.erase(t.Context(), "1")
		must(t, err)
		a.expectLeft(t)
	})
}

// An erasure sets the reference of a message to its sender to NULL. If a trigger restores this reference, the erasure
// fails.
func TestAReferenceThatATriggerKeepsIsLeftOver(t *testing.T) {
	t.Parallel()
	a := open(t, onPostgres(t), app.Config{Models: market}, append(marketTables(), function("BEFORE UPDATE", "messages",
		"NEW.sender_id := OLD.sender_id; RETURN NEW;")...)...)
	if _, err := a.erase(t.Context(), "1"); !errors.Is(err, domain.ErrLeftOver) {
		t.Errorf("got %v", err)
	}
}

func TestEachPersonGetsTheirPartOfARow(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: market}, marketTables()...)
		bundle, err := a.export(t.Context(), "1")
		must(t, err)
		var got []string
		for _, record := range bundle.Records {
			got = append(got, record.Source+"."+record.Field+" "+record.Row)
		}
		want := []string{
			"market_members.email 1", "messages.body 1", "messages.folder 2", "messages.body 3", "messages.folder 3",
			"attachments.name 1", "attachments.name 3", "purchases.address 2", "purchases.rating 2", "purchases.account 3",
			"purchases.rating 3", "reports.text 1", "reports.text 3", "group_members.role 1\x1f1",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	})
}

func TestEachPersonsPartOfARowIsRectified(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: market}, marketTables()...)
		result, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryBehavioral: "right"})
		must(t, err)
		if want := int64(2); result.Rectified["messages"] != want || result.Rectified["purchases"] != want {
			t.Errorf("rectified %v", result.Rectified)
		}
		for query, want := range map[string]string{
			"SELECT id, folder FROM messages ORDER BY id":  "1 folder; 2 right; 3 right; 4 folder",
			"SELECT id, rating FROM purchases ORDER BY id": "1 rating; 2 right; 3 right",
		} {
			if got := a.cells(t, query); got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
	})
}

// A transaction of the application adds or changes a row. The erasure of trader 1 waits for the commit of this
// transaction, and must then treat the row by the role of trader 1. For example, it deletes an attachment if trader 1
// has sent the message, but not if trader 1 has received the message.
func TestRowsInFlightAreErasedAlongEachPath(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ statement, query, want string }{
		"below a message that was sent": {
			"INSERT INTO attachments VALUES (9, 1, 'in flight', 9)", "SELECT count(*) FROM attachments WHERE id = 9", "0",
		},
		"below a message that was received": {
			"INSERT INTO attachments VALUES (9, 2, 'in flight', 9)", "SELECT name FROM attachments WHERE id = 9", "in flight",
		},
		"a message": {
			"INSERT INTO messages VALUES (9, 2, 1, 'body', 'in flight', 'en')", "SELECT body, folder FROM messages WHERE id = 9",
			"body anon",
		},
		"a message that another person takes": {
			"UPDATE messages SET recipient_id = 2 WHERE id = 2", "SELECT body, folder FROM messages WHERE id = 2", "body folder",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: market}, marketTables()...)
			a.eraseDuring(t, test.statement)
			if got := a.cells(t, test.query); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// In the data map, an erasure sets sender_id to NULL. In the database, this column is NOT NULL. The erasure is refused.
func TestAReferenceThatTheDatabaseKeepsNotNullIsRefused(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		tables := marketTables()
		tables[1] = strings.Replace(tables[1], "sender_id bigint", "sender_id bigint NOT NULL", 1)
		a := open(t, db, app.Config{Models: market}, tables...)
		_, err := a.erase(t.Context(), "1")
		if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), "messages.sender_id") {
			t.Errorf("got %v", err)
		}
	})
}

// Without a key in the database, the key of the data map may be NULL in several rows.
func TestRowsOfSeveralPathsAreExportedWithoutAKey(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: market}, append(marketTables(), "ALTER TABLE attachments RENAME TO others",
			"CREATE TABLE attachments (id bigint, message_id bigint, name text, size bigint)",
			"INSERT INTO attachments VALUES (NULL, 1, 'sent', 9), (NULL, 3, 'to myself', 9), (NULL, 3, 'to myself', 9),"+
				" (NULL, 2, 'received', 9), (NULL, 4, 'foreign', 9), (NULL, NULL, 'nobody', 9)")...)
		bundle, err := a.export(t.Context(), "1")
		must(t, err)
		var names []string
		for _, record := range bundle.Records {
			if record.Source == "attachments" {
				names = append(names, record.Row+" "+record.Field+" "+fmt.Sprint(record.Value))
			}
		}
		slices.Sort(names)
		if want := []string{"NULL name sent", "NULL name to myself", "NULL name to myself"}; !slices.Equal(names, want) {
			t.Errorf("exported %q", names)
		}
	})
}
