package isolation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// TestTheDatabaseDoesNothingBesidesUnsaid erases a person where foreign keys with actions of both kinds, triggers and
// partitions act besides. The erasure fails and changes nothing, or it succeeds: then no row of the other person is gone,
// no retained cell has changed, no row of the data map holds an erased text, and changed rows are counted.
func TestTheDatabaseDoesNothingBesidesUnsaid(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		if err := bunstore.Migrate(t.Context(), db, bunstore.Options{}); err != nil {
			t.Fatal(err)
		}
		outcomes := map[string]int{}
		rapid.Check(t, func(t *rapid.T) {
			b := drawBesides(t, db.Dialect().Name() == dialect.PG)
			defer b.drop(db)
			b.create(t, db)
			b.check(t, db, outcomes)
		})
		t.Log(outcomes)
		if outcomes["succeeded"] == 0 || outcomes["refused"] == 0 || outcomes["counted"] == 0 {
			t.Errorf("some outcome never occurs: %v", outcomes)
		}
	})
}

// besides is a schema in which the database acts besides.
type besides struct {
	statements []string
	triggers   []string
	postgres   bool
}

var besidesTables = []string{"likes", "receipts", "remarks", "articles", "members"} // children first

func drawBesides(t *rapid.T, postgres bool) *besides {
	b := &besides{postgres: postgres}
	action := func(event string, of ...string) string {
		if drawn := rapid.SampledFrom(of).Draw(t, "on "+event); drawn != "" {
			return " ON " + event + " " + drawn
		}
		return ""
	}
	update := func() string { return action("UPDATE", "CASCADE", "CASCADE", "SET NULL", "SET DEFAULT") }
	remarks := ""
	if postgres && rapid.Bool().Draw(t, "partitions") {
		remarks = " PARTITION BY LIST (body)"
	}
	receiptKey := ""
	if rapid.Bool().Draw(t, "receipts follow") {
		receiptKey = " DEFAULT NULL REFERENCES members (email)" + update()
	}
	b.statements = []string{
		"CREATE TABLE members (id bigint PRIMARY KEY, email text NOT NULL UNIQUE, n bigint)",
		"CREATE TABLE articles (id bigint PRIMARY KEY, member_id bigint REFERENCES members (id), title text)",
		"CREATE TABLE remarks (id bigint, member_id bigint REFERENCES members (id), article_id bigint DEFAULT NULL" +
			" REFERENCES articles (id)" + action("DELETE", "CASCADE", "SET NULL", "SET DEFAULT") + ", body text, n bigint)" + remarks,
		"CREATE TABLE receipts (id bigint PRIMARY KEY, member_id bigint REFERENCES members (id), address text, email text" +
			receiptKey + ", n bigint)",
		"CREATE TABLE likes (id bigint PRIMARY KEY, article_id bigint DEFAULT NULL REFERENCES articles (id)" +
			action("DELETE", "CASCADE", "SET NULL", "SET DEFAULT") + ", email text DEFAULT NULL REFERENCES members (email)" +
			update() + ", n bigint)",
	}
	if remarks != "" {
		b.statements = append(b.statements, "CREATE TABLE remarks_1 PARTITION OF remarks FOR VALUES IN ('remark of ann')",
			"CREATE TABLE remarks_2 PARTITION OF remarks DEFAULT")
	}
	b.statements = append(b.statements,
		"INSERT INTO members VALUES (1, 'ann@example.com', 0), (2, 'bob@example.com', 0)",
		"INSERT INTO articles VALUES (10, 1, 'article of ann'), (20, 2, 'article of bob')",
		fmt.Sprintf("INSERT INTO remarks VALUES (100, 1, %s, 'remark of ann', 0), (200, 2, %s, 'remark of bob', 0)",
			drawArticle(t), drawArticle(t)),
		fmt.Sprintf("INSERT INTO receipts VALUES (100, 1, 'street of ann', %s, 0), (200, 2, 'street of bob', %[1]s, 0)",
			rapid.SampledFrom([]string{"NULL", "'ann@example.com'"}).Draw(t, "receipt")),
		fmt.Sprintf("INSERT INTO likes VALUES (1, %s, 'ann@example.com', 0), (2, 20, 'bob@example.com', 0)", drawArticle(t)),
	)
	for i := range rapid.IntRange(0, 2).Draw(t, "triggers") {
		b.drawTrigger(t, i)
	}
	return b
}

func drawArticle(t *rapid.T) string {
	return rapid.SampledFrom([]string{"NULL", "10", "20"}).Draw(t, "article")
}

// drawTrigger draws a trigger that counts, keeps an old text, restores it or deletes rows, in another table.
func (b *besides) drawTrigger(t *rapid.T, i int) {
	texts := map[string]string{"members": "email", "articles": "title", "remarks": "body", "likes": "email"}
	table := rapid.SampledFrom(slices.Sorted(maps.Keys(texts))).Draw(t, "table")
	event := rapid.SampledFrom([]string{"UPDATE", "DELETE"}).Draw(t, "event")
	old := "OLD." + texts[table]
	bodies := map[string][]string{
		"remarks": {
			"UPDATE remarks SET n = n + 1 WHERE member_id = 2", "UPDATE remarks SET body = 'by ' || " + old + " WHERE id = 200",
			"DELETE FROM remarks WHERE id = 200",
			"INSERT INTO remarks SELECT max(id) + 1, 2, NULL, 'was ' || " + old + ", 0 FROM remarks",
			"INSERT INTO remarks SELECT max(id) + 1, 2, NULL, 'less', 0 FROM remarks",
		},
		"receipts": {
			"UPDATE receipts SET n = n + 1", "UPDATE receipts SET address = " + old + " WHERE member_id = 1",
			"DELETE FROM receipts WHERE id = 200",
		},
		"members":  {"UPDATE members SET n = n + 1 WHERE id = 2"},
		"articles": {"DELETE FROM articles WHERE id = 20 AND NOT EXISTS (SELECT 1 FROM remarks WHERE article_id = 20)"},
		"likes":    {"DELETE FROM likes WHERE id = 2", "UPDATE likes SET n = n + 1"},
	}
	delete(bodies, table) // no trigger fires itself
	if i > 0 {
		delete(bodies, "members") // nor the first one, which may be one of these tables
		delete(bodies, "articles")
	}
	target := rapid.SampledFrom(slices.Sorted(maps.Keys(bodies))).Draw(t, "target")
	body := rapid.SampledFrom(bodies[target]).Draw(t, "body") + ";"
	name := fmt.Sprintf("t%d", i)
	if i > 0 && strings.Contains(b.triggers[0], target) {
		return
	}
	b.triggers = append(b.triggers, target+" "+table)
	if !b.postgres {
		b.statements = append(b.statements, "CREATE TRIGGER "+name+" AFTER "+event+" ON "+table+" BEGIN "+body+" END")
		return
	}
	b.statements = append(b.statements,
		"CREATE FUNCTION "+name+"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+body+" RETURN NULL; END $$",
		"CREATE TRIGGER "+name+" AFTER "+event+" ON "+table+" FOR EACH ROW EXECUTE FUNCTION "+name+"()")
}

func (b *besides) create(t *rapid.T, db *bun.DB) {
	for _, statement := range b.statements {
		t.Log(statement)
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *besides) drop(db *bun.DB) {
	for _, table := range besidesTables {
		_, _ = db.ExecContext(context.Background(), "DROP TABLE IF EXISTS "+table)
	}
	for i := range 2 {
		_, _ = db.ExecContext(context.Background(), fmt.Sprintf("DROP FUNCTION IF EXISTS t%d", i))
	}
}

// rows returns the cells of all rows, by table and id, and then by column.
func (b *besides) rows(t *rapid.T, db *bun.DB) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, table := range besidesTables {
		var rows []map[string]any
		if err := db.NewRaw("SELECT * FROM "+table).Scan(t.Context(), &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			cells := map[string]string{}
			for column, value := range row {
				cells[column] = fmt.Sprint(value)
			}
			found[fmt.Sprintf("%s %v", table, row["id"])] = cells
		}
	}
	return found
}

func besidesMap(t *rapid.T) datamap.DataMap {
	is := func(name string, kind datamap.ColumnType, strategy domain.Strategy) datamap.Column {
		c := datamap.Column{Name: name, Type: kind}
		if strategy != "" {
			c.Personal = &datamap.Annotation{Category: domain.CategoryContact, Strategy: strategy}
			if strategy == domain.StrategyRetain {
				c.Personal.Reason = "tax law"
			}
		}
		return c
	}
	const number, text = datamap.TypeBigInt, datamap.TypeText
	id, member := is("id", number, ""), is("member_id", number, "")
	toMember := []datamap.Relation{{Columns: []string{"member_id"}, References: "members", ReferencedColumns: []string{"id"}}}
	dataMap, err := datamap.NewDataMap(
		datamap.Table{
			Name: "members", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{id, is("email", text, domain.StrategyAnonymize), is("n", number, "")},
		},
		datamap.Table{
			Name: "articles", PrimaryKey: []string{"id"}, Relations: toMember, Owned: true,
			Columns: []datamap.Column{id, member, is("title", text, domain.StrategyDelete)},
		},
		datamap.Table{
			Name: "remarks", PrimaryKey: []string{"id"}, Relations: toMember,
			Columns: []datamap.Column{
				id, member, is("article_id", number, ""), is("body", text, domain.StrategyAnonymize), is("n", number, ""),
			},
		},
		datamap.Table{
			Name: "receipts", PrimaryKey: []string{"id"}, Relations: toMember,
			Columns: []datamap.Column{
				id, member, is("address", text, domain.StrategyRetain), is("email", text, domain.StrategyRetain),
				is("n", number, ""),
			},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return dataMap
}

func (b *besides) check(t *rapid.T, db *bun.DB, outcomes map[string]int) {
	gdpr, err := app.New(app.Config{DB: db, DataMap: besidesMap(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	before := b.rows(t, db)
	subject, err := domain.NewSubject("1")
	if err != nil {
		t.Fatal(err)
	}
	result, err := gdpr.Operator().Erase(t.Context(), subject)
	after := b.rows(t, db)
	if err != nil {
		outcomes["refused"]++
		expected := errors.Is(err, domain.ErrConflict) || errors.Is(err, domain.ErrLeftOver)
		if !expected || !maps.EqualFunc(before, after, maps.Equal) {
			t.Fatalf("the erasure fails: %v", err)
		}
		return
	}
	outcomes["succeeded"]++
	b.checkRows(t, before, after, result.Cascaded)
	if len(result.Cascaded) > 0 {
		outcomes["counted"]++
	}
}

func (b *besides) checkRows(t *rapid.T, before, after map[string]map[string]string, cascaded map[string]int64) {
	gone, changed := map[string]int64{}, map[string]int64{}
	for place, was := range before {
		is, stays := after[place]
		table, _, _ := strings.Cut(place, " ")
		switch {
		case !stays && table == "likes":
			gone[table]++
		case !stays && place != "articles 10":
			t.Fatalf("%s is gone", place)
		case stays && (table == "likes" || was["member_id"] == "2" || place == "members 2") && !maps.Equal(was, is):
			changed[table]++
		}
		if table == "receipts" && (was["address"] != is["address"] || was["email"] != is["email"]) {
			t.Fatalf("a retained cell of %s has changed: %v, %v", place, was, is)
		}
	}
	for place, is := range after {
		for column, text := range is {
			for _, erased := range []string{"ann@example.com", "article of ann", "remark of ann"} {
				isMapped := !strings.HasPrefix(place, "likes")
				if isMapped && strings.Contains(text, erased) && !strings.Contains(before[place][column], erased) {
					t.Fatalf("%s.%s holds %s", place, column, erased)
				}
			}
		}
	}
	for _, table := range besidesTables {
		// A trigger that changes a table outside the data map is not counted, but a foreign key that deletes its rows is.
		if table != "likes" && changed[table] > cascaded[table] || gone[table] > cascaded[table] {
			t.Fatalf("%s: %d rows are gone, %d changed, but %v is said", table, gone[table], changed[table], cascaded)
		}
	}
}
