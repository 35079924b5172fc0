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
	"github.com/habeas-data/habeas/ports"
)

// TestTheDatabaseDoesNothingBesidesUnsaid erases or corrects a person where foreign keys with actions of both kinds,
// triggers, conflict clauses and partitions act besides, with keys of several types. The operation fails and changes
// nothing, or it succeeds: then no row of the other person is gone, and no retained cell has changed. After an erasure,
// no row of the data map holds an erased text, and changed rows are counted.
func TestTheDatabaseDoesNothingBesidesUnsaid(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		if err := bunstore.Migrate(t.Context(), db, bunstore.Options{}); err != nil {
			t.Fatal(err)
		}
		if db.Dialect().Name() == dialect.PG { // the settings change how a session shows the values of keys
			databases.Execute(t, db, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET extra_float_digits = -8',"+
				" current_database()); EXECUTE format('ALTER DATABASE %I SET DateStyle = ''SQL, DMY''', current_database());"+
				" END $$")
			databases.Reconnect(db)
		}
		outcomes := map[string]int{}
		rapid.Check(t, func(t *rapid.T) {
			b := drawBesides(t, db.Dialect().Name() == dialect.PG)
			defer b.drop(db)
			b.create(t, db)
			b.check(t, db, outcomes)
		})
		t.Log(outcomes)
		for _, outcome := range []string{"succeeded", "refused", "counted", "corrected", "not corrected"} {
			if outcomes[outcome] == 0 {
				t.Errorf("some outcome never occurs: %v", outcomes)
			}
		}
	})
}

// besides is a schema in which the database acts besides.
type besides struct {
	statements []string
	triggers   []string
	postgres   bool
	corrected  string // the value of a correction; "" for an erasure
	key        remarkKey
	unique     bool   // the key is unique in the database
	bob        string // the values of his remark
}

// remarkKey is the type of the key of remarks, with the keys of Ann, Bob and a row that a trigger inserts.
type remarkKey struct{ declared, ann, bob, next string }

var remarkKeys = map[bool][]remarkKey{ // by whether the database is PostgreSQL
	true: {
		{"bigint", "100", "200", "300"},
		{"double precision", "0.3", "0.1::float8 + 0.2", "0.3000000000000002"},
		{"timestamptz", "'2024-10-27 00:30:00Z'", "'2024-10-27 01:30:00Z'", "'2024-10-27 02:30:00Z'"},
		{"text", "NULL", "NULL", "'NULL'"},
		{"text", "'100'", "NULL", "'NULL'"},
	},
	false: {
		{"bigint", "100", "200", "300"},
		{"double precision", "0.3", "0.1 + 0.2", "0.3000000000000002"},
		{"BLOB", "x'00'", "x'0001'", "x''"},
		{"", "5", "'5'", "x'35'"},
		{"text", "NULL", "NULL", "NULL"},
		{"text", "'100'", "NULL", "NULL"},
	},
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
	clauses, replace := []string{"", " UNIQUE"}, " UNIQUE ON CONFLICT REPLACE"
	if !postgres {
		clauses = append(clauses, " UNIQUE ON CONFLICT IGNORE", replace, replace)
	}
	remarks, tag := "", rapid.SampledFrom(clauses).Draw(t, "tag")
	b.key = rapid.SampledFrom(remarkKeys[postgres]).Draw(t, "key")
	key := b.key.declared
	if postgres && rapid.Bool().Draw(t, "partitions") {
		remarks, tag = " PARTITION BY LIST (body)", ""
	} else if b.unique = b.key.bob != "NULL" && rapid.Bool().Draw(t, "primary key"); b.unique {
		key += " PRIMARY KEY"
	}
	receiptKey := ""
	if rapid.Bool().Draw(t, "receipts follow") {
		receiptKey = " DEFAULT NULL REFERENCES members (email)" + update()
	}
	b.statements = []string{
		"CREATE TABLE members (id bigint PRIMARY KEY, email text NOT NULL" +
			rapid.SampledFrom(clauses[1:]).Draw(t, "email") + ", n bigint)",
		"CREATE TABLE articles (id bigint PRIMARY KEY, member_id bigint REFERENCES members (id), title text)",
		"CREATE TABLE remarks (id " + key + ", member_id bigint REFERENCES members (id), article_id bigint DEFAULT NULL" +
			" REFERENCES articles (id)" + action("DELETE", "CASCADE", "SET NULL", "SET DEFAULT") + ", body text, n bigint," +
			" tag text" + tag + ", place bigint)" + remarks,
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
	b.bob = fmt.Sprintf("(%s, 2, %s, 'remark of bob', 0, %s, 200)", b.key.bob, drawArticle(t),
		rapid.SampledFrom([]string{"NULL", "'tag of bob'", "'gone'"}).Draw(t, "tag of bob"))
	b.corrected = rapid.SampledFrom([]string{"", "", "", "new@example.com", "bob@example.com"}).Draw(t, "corrected")
	b.statements = append(b.statements,
		"INSERT INTO members VALUES (1, 'ann@example.com', 0), (2, 'bob@example.com', 0)",
		"INSERT INTO articles VALUES (10, 1, 'article of ann'), (20, 2, 'article of bob')",
		fmt.Sprintf("INSERT INTO remarks VALUES (%s, 1, %s, 'remark of ann', 0, 'tag of ann', 100), %s", b.key.ann,
			drawArticle(t), b.bob),
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
	bodies := b.bodies("OLD." + texts[table])
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

// bodies returns the statements of triggers by the table that they change. The parameter old is the text of a row that
// an erasure overwrites or deletes.
func (b *besides) bodies(old string) map[string][]string {
	inserts := func(body, tag string) string {
		return fmt.Sprintf("INTO remarks VALUES (%s, 2, NULL, %s, 0, %s, 300)", b.key.next, body, tag)
	}
	bodies := map[string][]string{
		"remarks": {
			"UPDATE remarks SET n = n + 1 WHERE member_id = 2", "DELETE FROM remarks WHERE member_id = 2",
			"UPDATE remarks SET body = 'by ' || " + old + " WHERE member_id = 2",
			"INSERT " + inserts("'was ' || "+old, "NULL"), "INSERT " + inserts("'less'", "NULL"),
			"INSERT " + inserts("'less'", "'gone'"),
			"DELETE FROM remarks WHERE member_id = 2; INSERT INTO remarks VALUES " + b.bob,
		},
		"receipts": {
			"UPDATE receipts SET n = n + 1", "UPDATE receipts SET address = " + old + " WHERE member_id = 1",
			"UPDATE receipts SET address = 'moved' WHERE id = 200", "UPDATE receipts SET member_id = 2 WHERE id = 100",
			"UPDATE receipts SET email = NULL, n = 7", "UPDATE receipts SET member_id = NULL, address = 'moved'",
			"INSERT INTO receipts VALUES (100, 1, 'moved', NULL, 0) ON CONFLICT (id) DO UPDATE SET address = 'moved'",
			"DELETE FROM receipts WHERE id = 200",
		},
		"members":  {"UPDATE members SET n = n + 1 WHERE id = 2"},
		"articles": {"DELETE FROM articles WHERE id = 20 AND NOT EXISTS (SELECT 1 FROM remarks WHERE article_id = 20)"},
		"likes":    {"DELETE FROM likes WHERE id = 2", "UPDATE likes SET n = n + 1"},
	}
	if b.postgres {
		return bodies
	}
	bodies["remarks"] = append(bodies["remarks"], "INSERT OR IGNORE "+inserts("'less'", "'gone'"),
		"REPLACE "+inserts("'less'", "'tag of bob'"), "INSERT OR REPLACE "+inserts("'less'", "'gone'"),
		"UPDATE OR REPLACE remarks SET tag = 'gone' WHERE member_id = 2", "UPDATE OR IGNORE remarks SET tag = 'gone'")
	bodies["receipts"] = append(bodies["receipts"], "REPLACE INTO receipts VALUES (100, 1, 'moved', NULL, 0)",
		"REPLACE INTO receipts VALUES (200, 2, 'moved', NULL, 0)")
	if b.unique {
		bodies["remarks"] = append(bodies["remarks"],
			"REPLACE INTO remarks SELECT id, 2, NULL, body, n + 1, tag, place FROM remarks WHERE member_id = 2")
	}
	return bodies
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
		if err := db.NewRaw("SELECT * FROM "+table+" -- "+b.key.declared).Scan(t.Context(), &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			cells := map[string]string{}
			for column, value := range row {
				cells[column] = fmt.Sprint(value)
			}
			if place, ok := row["place"]; ok {
				row["id"] = place
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
	id, member, tag := is("id", number, ""), is("member_id", number, ""), is("tag", text, domain.StrategyAnonymize)
	tag.Surrogate = "gone"
	toMember := []datamap.Relation{{
		Columns: []string{"member_id"}, References: "members",
		ReferencedColumns: []string{"id"},
	}}
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
				is("id", text, ""), member, is("article_id", number, ""), is("body", text, domain.StrategyAnonymize),
				is("n", number, ""), tag,
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
	outcome, failed, cascaded := "succeeded", "refused", map[string]int64(nil)
	if b.corrected == "" {
		var result domain.ErasureResult
		result, err = gdpr.Operator().Erase(t.Context(), subject)
		cascaded = result.Cascaded
	} else {
		outcome, failed = "corrected", "not corrected"
		err = gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := gdpr.Stack().Rectifier.Rectify(ctx, s, subject,
				domain.Correction{Table: "members", Column: "email", Value: b.corrected})
			return err
		})
	}
	after := b.rows(t, db)
	if err != nil {
		outcomes[failed]++
		expected := errors.Is(err, domain.ErrConflict) || errors.Is(err, domain.ErrLeftOver)
		if !expected || !maps.EqualFunc(before, after, maps.Equal) {
			t.Fatalf("the operation fails: %v (%v)", err, errors.Unwrap(err))
		}
		return
	}
	outcomes[outcome]++
	if len(cascaded) > 0 {
		outcomes["counted"]++
	}
	if b.checkKept(t, before, after); b.corrected == "" {
		b.checkErased(t, before, after, cascaded)
	} else if got := after["members 1"]["email"]; got != b.corrected {
		t.Fatalf("the address is %s", got)
	}
}

// checkKept checks that no row of the data map is gone, except those that an erasure deletes, and that no retained cell
// of the person has changed. A foreign key may pass a correction on.
func (b *besides) checkKept(t *rapid.T, before, after map[string]map[string]string) {
	for place, was := range before {
		is, stays := after[place]
		table, _, _ := strings.Cut(place, " ")
		if !stays && table != "likes" && (place != "articles 10" || b.corrected != "") {
			t.Fatalf("%s is gone", place)
		}
		for _, column := range []string{"member_id", "address", "email"} {
			follows := column == "email" && b.corrected != "" && is[column] == b.corrected
			if table == "receipts" && was["member_id"] == "1" && was[column] != is[column] && !follows {
				t.Fatalf("a retained cell of %s has changed: %v, %v", place, was, is)
			}
		}
	}
}

func (b *besides) checkErased(t *rapid.T, before, after map[string]map[string]string, cascaded map[string]int64) {
	gone, changed := map[string]int64{}, map[string]int64{}
	for place, was := range before {
		is, stays := after[place]
		table, _, _ := strings.Cut(place, " ")
		switch {
		case !stays && table == "likes":
			gone[table]++
		case stays && (table == "likes" || was["member_id"] == "2" || place == "members 2") && !maps.Equal(was, is):
			changed[table]++
		}
	}
	for place, is := range after {
		for column, text := range is {
			for _, erased := range []string{"ann@example.com", "article of ann", "remark of ann", "tag of ann"} {
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
