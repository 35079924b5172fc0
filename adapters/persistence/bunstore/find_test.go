package bunstore_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

const soughtMail = "Zoe@example.org"

// findMail returns the result of Store.Find for soughtMail.
func findMail(t *testing.T, store *bunstore.Store) search.Result {
	t.Helper()
	found, err := store.Find(t.Context(), []string{soughtMail}, nil)
	must(t, err)
	return found
}

// onceIn returns one occurrence for each column: the column contains the value in one row of the table.
func onceIn(table string, columns ...string) (all []search.Occurrence) {
	for _, column := range columns {
		all = append(all, search.Occurrence{Table: table, Column: column, Rows: 1})
	}
	return all
}

func TestFindLooksAtEveryTypeOfPostgreSQLThatHoldsText(t *testing.T) {
	t.Parallel()
	const mail = "'zoe@example.org'"
	_, store := postgresWith(t, `CREATE TABLE people (id bigint PRIMARY KEY)`,
		`CREATE DOMAIN mail AS text`, `CREATE TYPE pair AS (a text, b int)`, `CREATE TYPE mood AS ENUM (`+mail+`)`,
		`CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
		`CREATE TABLE cells (a text, b varchar(40), c char(40), d mail, e json, f jsonb, g text[], h pair, i tsvector,
			j xml, k text COLLATE loose, "l ""m" name, mood mood, bytes bytea, number numeric, at timestamptz, id uuid,
			made text GENERATED ALWAYS AS (a || '!') STORED)`,
		`INSERT INTO cells VALUES (`+mail+`, `+mail+`, `+mail+`, `+mail+`, '{"a": ["zoe\u0040example.org"]}',
			'{"zoe@example.org": 1}', ARRAY['x', `+mail+`], ROW(`+mail+`, 1), to_tsvector(`+mail+`),
			'<a>zoe@example.org</a>', `+mail+`, `+mail+`, `+mail+`, `+mail+`, 1, now(), gen_random_uuid())`)
	isListed(t, "occurrences", findMail(t, store).Occurrences,
		onceIn("cells", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", `l "m`, "bytes", "made"))
}

func TestFindLooksAtEveryTableOfPostgreSQL(t *testing.T) {
	t.Parallel()
	db, store := postgresWith(t, `CREATE TABLE people (id bigint PRIMARY KEY)`, `CREATE SCHEMA "odd ""one"`,
		`CREATE TABLE "odd ""one"."a Table" (note text)`,
		`CREATE TABLE events (note text) PARTITION BY LIST (note)`, `CREATE TABLE events_1 PARTITION OF events DEFAULT`,
		`CREATE TABLE parent (note text)`, `CREATE TABLE child (more text) INHERITS (parent)`,
		`CREATE VIEW shown AS SELECT note FROM parent`, `CREATE UNLOGGED TABLE fast (note text)`,
		`INSERT INTO "odd ""one"."a Table" VALUES ('zoe@example.org')`, `INSERT INTO events VALUES ('zoe@example.org')`,
		`INSERT INTO child VALUES ('zoe@example.org', 'zoe@example.org')`, `INSERT INTO fast VALUES ('zoe@example.org')`,
		`CREATE MATERIALIZED VIEW copied AS SELECT note FROM parent`,
		`CREATE MATERIALIZED VIEW unfilled AS SELECT note FROM parent WITH NO DATA`,
		`CREATE FOREIGN DATA WRAPPER wire`, `CREATE SERVER other FOREIGN DATA WRAPPER wire`,
		`CREATE FOREIGN TABLE far (note text) SERVER other`)
	found := findMail(t, store)
	isListed(t, "occurrences", found.Occurrences,
		append(append(onceIn("child", "note", "more"), onceIn("copied", "note")...),
			append(append(onceIn("events", "note"), onceIn("fast", "note")...), onceIn(`odd "one.a Table`, "note")...)...))
	isListed(t, "gaps", found.Gaps, []search.Gap{
		{Table: "far", Reason: search.GapFailed}, {Table: "unfilled", Reason: search.GapFailed},
	})
	execute(t, db, `DROP FOREIGN TABLE far`)
}

func TestFindReportsMissingPrivileges(t *testing.T) {
	t.Parallel()
	db, admin, role := asRole(t)
	execute(t, admin, `CREATE TABLE people (id bigint PRIMARY KEY)`, `CREATE TABLE closed (note text)`,
		`CREATE TABLE part (note text, secret text)`, `CREATE TABLE few (note text)`,
		`INSERT INTO part VALUES ('zoe@example.org', 'zoe@example.org')`,
		`INSERT INTO few VALUES ('zoe@example.org'), ('see zoe@example.org')`,
		`ALTER TABLE few ENABLE ROW LEVEL SECURITY`, `CREATE POLICY one ON few USING (note NOT LIKE 'see%')`,
		`CREATE TABLE slow (note text)`, `INSERT INTO slow VALUES ('zoe@example.org')`,
		`CREATE FUNCTION refuse() RETURNS boolean LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION 'as a statement_timeout does' USING ERRCODE = 'query_canceled'; END $$`,
		`ALTER TABLE slow ENABLE ROW LEVEL SECURITY`, `CREATE POLICY one ON slow USING (refuse())`,
		`GRANT SELECT ON few, people, slow TO `+role, `GRANT SELECT (note) ON part TO `+role,
		`REVOKE ALL ON habeas_outbox FROM `+role)
	found := findMail(t, existingApplication(t, db, nil, (*person)(nil)).store)
	isListed(t, "occurrences", found.Occurrences, onceIn("part", "note"))
	isListed(t, "gaps", found.Gaps, []search.Gap{
		{Table: "closed", Reason: search.GapPrivilege},
		{Table: "few", Reason: search.GapRowSecurity},
		{Table: "habeas_outbox", Reason: search.GapPrivilege},
		{Table: "part", Column: "secret", Reason: search.GapPrivilege},
		{Table: "slow", Reason: search.GapRowSecurity},
	})
}

func TestFindGoesOnAfterATableThatIsLocked(t *testing.T) {
	t.Parallel()
	url := postgres.NewDatabase(t)
	_, store := applicationWith(t, openDB(t, "pgx", url+"&lock_timeout=20"), []string{
		`CREATE TABLE people (id bigint PRIMARY KEY)`, `CREATE TABLE locked (note text)`, `CREATE TABLE open (note text)`,
		`INSERT INTO open VALUES ('zoe@example.org')`,
	})
	must(t, openDB(t, "pgx", url).RunInTx(t.Context(), nil, func(_ context.Context, tx bun.Tx) error {
		execute(t, tx, `LOCK TABLE locked`)
		found := findMail(t, store)
		isListed(t, "occurrences", found.Occurrences, onceIn("open", "note"))
		isListed(t, "gaps", found.Gaps, []search.Gap{{Table: "locked", Reason: search.GapTimeout}})
		return nil
	}))
}

func TestFindLooksAtEveryColumnOfSQLite(t *testing.T) {
	t.Parallel()
	_, store := applicationWith(t, databases.SQLite(t), []string{
		`CREATE TABLE people (id INTEGER PRIMARY KEY)`,
		`CREATE TABLE cells (id INTEGER PRIMARY KEY, a TEXT, b, c INTEGER, d JSON, e JSON, f BLOB, g BLOB, h JSON, i DATE,
			"j ""k" TEXT, made AS (a || '!'), photo JSON)`,
		`INSERT INTO cells (a, b, c, d, e, f, g, h, i, "j ""k", photo) VALUES ('zoe@example.org', 'zoe@example.org',
			'zoe@example.org', '["zoe\u0040example.org"]', CAST('["zoe@example.org"]' AS BLOB), CAST('zoe@example.org' AS BLOB),
			'zoe@example.org', jsonb('{"a": null, "b": ["zoe\u0040example.org"]}'), 'zoe@example.org', 'zoe@example.org',
			x'00ffd8')`,
		`CREATE TABLE "a Table" (note TEXT)`, `INSERT INTO "a Table" VALUES ('zoe@example.org')`,
		`CREATE VIRTUAL TABLE words USING fts5 (body)`, `INSERT INTO words VALUES ('zoe@example.org')`,
		`CREATE VIEW shown AS SELECT a FROM cells`,
		`PRAGMA writable_schema = 1`,
		`INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
			VALUES ('table', 'lost', 'lost', 0, 'CREATE VIRTUAL TABLE lost USING no_such_module (a)')`,
		`PRAGMA writable_schema = RESET`,
	})
	found := findMail(t, store)
	isListed(t, "occurrences", found.Occurrences, append(append(onceIn("a Table", "note"),
		onceIn("cells", "a", "b", "c", "d", "e", "f", "g", "h", "i", `j "k`, "made")...), onceIn("words", "body")...))
	isListed(t, "gaps", found.Gaps, []search.Gap{{Table: "lost", Reason: search.GapFailed}})
}

// PostgreSQL and JSON double or escape quotes and backslashes, once for each level of nesting.
func TestFindReadsQuotesInComposites(t *testing.T) {
	t.Parallel()
	const sought = `Zoë "Zo\e" O'Neil, x`
	db, store := postgresWith(t, `CREATE TABLE people (id bigint PRIMARY KEY)`, `CREATE EXTENSION hstore`,
		`CREATE TYPE pair AS (a text, b int)`, `CREATE TYPE pairs AS (p pair, all_p pair[])`,
		`CREATE TYPE names AS RANGE (subtype = text)`,
		`CREATE TABLE cells (a pair, b pairs, c text[], d pair[], e hstore, f jsonb, g json[], h names, i bytea, j bytea[],
			k text, l tsvector, m text)`)
	for _, text := range []string{sought, strings.ReplaceAll(sought, "o", "a")} {
		_, err := db.DB.ExecContext(t.Context(), `
			INSERT INTO cells SELECT ROW(v, 1)::pair, ROW(ROW(v, 1)::pair, ARRAY[ROW(v, 1)::pair])::pairs, ARRAY[v],
				ARRAY[ROW(v, 1)::pair], hstore(v, v), jsonb_build_object('a', v),
				ARRAY[json_build_object('a', json_build_object('b', v)::text)],
				names(v, NULL), convert_to(v, 'UTF8'), ARRAY[convert_to('<' || v, 'UTF8')],
				encode(convert_to(v, 'UTF8'), 'base64'), array_to_tsvector(ARRAY[v]), convert_to(v, 'UTF8')::text
			FROM CAST($1 AS text) AS v`, text)
		must(t, err)
	}
	found, err := store.Find(t.Context(), []string{sought}, nil)
	must(t, err)
	isListed(t, "occurrences", found.Occurrences,
		onceIn("cells", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"))
	isListed(t, "gaps", found.Gaps, []search.Gap{})
}

func TestFindReadsQuotesInSQLite(t *testing.T) {
	t.Parallel()
	const sought = `Zoe "Zo\e" O'Neil`
	db, store := applicationWith(t, databases.SQLite(t), []string{
		`CREATE TABLE people (id INTEGER PRIMARY KEY)`,
		`CREATE TABLE cells (a JSON, b JSON, c TEXT, d BLOB, e BLOB, f TEXT, g TEXT, h JSON)`,
	})
	for _, text := range []string{sought, "another"} {
		_, err := db.DB.ExecContext(t.Context(), `INSERT INTO cells VALUES (json_object('a', ?1),
			json_object('a', json_object('b', ?1) || ''), '("' || replace(?1, '"', '""') || '",1)', CAST(?1 AS BLOB),
			CAST(x'0001' || CAST(?1 AS BLOB) AS BLOB), hex(?1), 'a' || char(0) || ?1, jsonb(json_object('a', ?1)))`, text)
		must(t, err)
	}
	found, err := store.Find(t.Context(), []string{sought}, nil)
	must(t, err)
	isListed(t, "occurrences", found.Occurrences, onceIn("cells", "a", "b", "c", "d", "e", "f", "g", "h"))
}

// The server of one foreign table refuses connections. The server of the other tables accepts them and never answers.
func TestFindGoesOnAfterAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	db := openDB(t, "pgx", postgres.NewDatabase(t))
	db.SetMaxOpenConns(1)
	server := func(name string, listener net.Listener) string {
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		return "CREATE SERVER " + name + " FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '" + port + "')"
	}
	silent, closed := listen(t), listen(t)
	must(t, closed.Close())
	_, store := applicationWith(t, db, []string{
		`CREATE TABLE people (id bigint PRIMARY KEY)`, `CREATE EXTENSION postgres_fdw`,
		server("silent", silent), server("closed", closed),
		`CREATE USER MAPPING FOR PUBLIC SERVER silent OPTIONS (user 'a', password 'b')`,
		`CREATE USER MAPPING FOR PUBLIC SERVER closed OPTIONS (user 'a', password 'b')`,
		`CREATE FOREIGN TABLE away (note text) SERVER closed`, `CREATE FOREIGN TABLE far (note text) SERVER silent`,
		`CREATE TABLE events (note text) PARTITION BY LIST (note)`,
		`CREATE TABLE "events 1" PARTITION OF events DEFAULT`,
		`CREATE FOREIGN TABLE "events 2" PARTITION OF events FOR VALUES IN ('x') SERVER silent`,
		`CREATE TABLE near (note text)`, `INSERT INTO near VALUES ('zoe@example.org')`,
		`CREATE TABLE zoo (note text)`, `INSERT INTO zoo VALUES ('zoe@example.org')`,
	})
	store.AwaitForeign(300 * time.Millisecond)
	found := findMail(t, store)
	isListed(t, "occurrences", found.Occurrences, append(onceIn("near", "note"), onceIn("zoo", "note")...))
	isListed(t, "gaps", found.Gaps, []search.Gap{
		{Table: "away", Reason: search.GapFailed},
		{Table: "events", Reason: search.GapFailed},
		{Table: "far", Reason: search.GapFailed},
	})
}

// listen opens a port that accepts connections and never answers. Its end ends the connections.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func TestFindKeepsValuesOutOfStatementsAndErrors(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		newShop(t, db, 1)
		hook := &statements{}
		store := existingApplication(t, databases.WithHook(db, hook), nil, models...).store
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		sent := strings.Join(hook.during(t, func() {
			_, err = store.Find(ctx, []string{soughtMail}, func(p search.Progress) {
				if p.Table == "users" {
					cancel()
				}
			})
		}), "\n")
		wantSilence(t, err, "example")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		if !strings.Contains(sent, "engraving") || strings.Contains(strings.ToLower(sent), "example") {
			t.Errorf("the statements hold the value, or there are none:\n%s", sent)
		}
	})
}

func TestFindPassesOverTimesAndEnumerationsOfPostgreSQL(t *testing.T) {
	t.Parallel()
	db, _ := postgresWith(t, `CREATE TABLE people (id bigint PRIMARY KEY)`, `CREATE TYPE money_order AS (note text)`,
		`CREATE TABLE orders (what money_order)`, `INSERT INTO orders VALUES (ROW('zoe@example.org'))`,
		`CREATE TYPE mood AS ENUM ('glad')`, `CREATE VIEW shown AS SELECT what FROM orders`,
		`CREATE TABLE times (c time(3), d interval, g timestamp(3)[], i boolean, l date, n time with time zone, o mood)`)
	hook := &statements{}
	store := existingApplication(t, databases.WithHook(db, hook), nil, (*person)(nil)).store
	var found search.Result
	sent := strings.Join(hook.during(t, func() { found = findMail(t, store) }), "\n")
	isListed(t, "occurrences", found.Occurrences, onceIn("orders", "what"))
	if strings.Contains(sent, `ONLY "public"."times" OFFSET`) {
		t.Errorf("a table without texts was read:\n%s", sent)
	}
	want := []search.Gap{{Table: "shown", Reason: search.SkippedView}}
	for _, column := range []string{"c", "d", "g", "i", "l", "n", "o"} {
		want = append(want, search.Gap{Table: "times", Column: column, Reason: search.SkippedType})
	}
	isListed(t, "skipped", found.Skipped, want)
}

func TestFindReadsWideTablesAndManyValuesInSeveralStatements(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		columns, values := make([]string, 50), make([]string, 50)
		var want []search.Occurrence
		for i := range columns {
			columns[i] = "c" + string(rune('a'+i/26)) + string(rune('a'+i%26))
			values[i] = "value " + columns[i] + "."
			want = append(want, search.Occurrence{Value: i, Table: "wide", Column: columns[i], Rows: 1})
		}
		execute(t, db, `CREATE TABLE people (id bigint PRIMARY KEY)`,
			"CREATE TABLE wide ("+strings.Join(columns, " text, ")+" text)",
			"INSERT INTO wide VALUES ('"+strings.Join(values, "', '")+"')")
		found, err := existingApplication(t, db, nil, (*person)(nil)).store.Find(t.Context(), values, nil)
		must(t, err)
		isListed(t, "occurrences", found.Occurrences, want)
	})
}
