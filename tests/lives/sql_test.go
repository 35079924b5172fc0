package lives

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// onSQL is an application on SQLite or PostgreSQL.
type onSQL struct {
	tb
	kind
	db    *bun.DB
	store *bunstore.Store
}

func (db *onSQL) open(pool *bun.DB) {
	db.db = pool
	dataMap, err := db.dataMap()
	must(db, err)
	db.store, err = bunstore.New(pool, dataMap, bunstore.Options{})
	must(db, err)
}

func (db *onSQL) sessions() ports.SessionFactory {
	return sessionsOf(func() ports.SessionFactory { return db.store })
}

func (db *onSQL) record(func()) {}

func (db *onSQL) exec(text string, args ...any) {
	db.Helper()
	_, err := db.db.NewRaw(text, args...).Exec(db.Context())
	must(db, err)
}

// create returns the statements that create the tables of the application.
func (k kind) create() string {
	key, created := "BIGINT", ""
	if k.natural {
		key = "VARCHAR(40)"
	}
	if k.times {
		created = ", created_at TIMESTAMPTZ"
	}
	text := "CREATE TABLE members (id " + key + " PRIMARY KEY, email TEXT" + created + ");"
	for _, name := range k.childTables() {
		text += "CREATE TABLE " + name + " (id BIGINT PRIMARY KEY, member_id " + key + ", address TEXT"
		if name == "invoices" {
			text += ", recipient TEXT"
		}
		if !k.deletes {
			text += ", issued_at TIMESTAMPTZ"
		}
		text += ");"
	}
	return text
}

func (db *onSQL) dump() dump {
	found := dump{}
	for _, table := range append(db.childTables(), "members") {
		var read []map[string]any
		must(db, db.db.NewRaw("SELECT * FROM ?", bun.Ident(table)).Scan(db.Context(), &read))
		for _, row := range read {
			for _, name := range []string{"created_at", "issued_at"} {
				if text, ok := row[name].(string); ok {
					at, err := time.Parse("2006-01-02 15:04:05.999999-07:00", text)
					must(db, err)
					row[name] = at
				}
			}
		}
		found[table] = read
	}
	return found
}

func (db *onSQL) load(rows dump) {
	for _, table := range append(db.childTables(), "members") {
		db.exec("DELETE FROM ?", bun.Ident(table))
	}
	for table, all := range rows {
		for _, row := range all {
			db.add(table, row)
		}
	}
}

func (db *onSQL) add(table string, row map[string]any) {
	db.Helper()
	names, places, args := []string{}, []string{}, []any{bun.Ident(table)}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		names, places, args = append(names, name), append(places, "?"), append(args, row[name])
	}
	db.exec("INSERT INTO ? ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(places, ", ")+")", args...)
}

func (db *onSQL) put(id, email string, added time.Time) {
	db.exec("DELETE FROM members WHERE id = ?", db.key(id))
	row := map[string]any{"id": db.key(id), "email": email}
	if db.times {
		row["created_at"] = added
	}
	db.add("members", row)
}

func (db *onSQL) remove(id string) {
	for _, table := range db.childTables() {
		db.exec("DELETE FROM ? WHERE member_id = ?", bun.Ident(table), db.key(id))
	}
	db.exec("DELETE FROM members WHERE id = ?", db.key(id))
}

// onSQLite is an application on SQLite in memory.
type onSQLite struct{ onSQL }

func sqlitePool(t tb) *bun.DB {
	pool, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)")
	must(t, err)
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	return bun.NewDB(pool, sqlitedialect.New())
}

// fileless opens databases on SQLite in memory that begin with the same content.
type fileless struct{ empty any }

// newFileless migrates a database only once, because migrations take long.
func newFileless(t *testing.T) fileless {
	t.Helper()
	db := &onSQLite{onSQL{tb: t, db: sqlitePool(t)}}
	must(t, bunstore.Migrate(t.Context(), db.db, bunstore.Options{}))
	return fileless{db.backUp()}
}

func (f fileless) open(t tb, k kind) database {
	db := &onSQLite{onSQL{tb: t, kind: k, db: sqlitePool(t)}}
	db.restore(f.empty)
	_, err := db.db.DB.ExecContext(t.Context(), k.create())
	must(t, err)
	return db
}

// serializer is the connection of the driver.
type serializer interface {
	Serialize() ([]byte, error)
	Deserialize([]byte) error
}

func (db *onSQLite) onConnection(pool *bun.DB, fn func(serializer) error) {
	connection, err := pool.DB.Conn(db.Context())
	must(db, err)
	must(db, connection.Raw(func(c any) error {
		serializer, ok := c.(serializer)
		if !ok {
			return fmt.Errorf("%T cannot serialize", c)
		}
		return fn(serializer)
	}))
	must(db, connection.Close())
}

func (db *onSQLite) backUp() any {
	var stored []byte
	db.onConnection(db.db, func(s serializer) (err error) {
		stored, err = s.Serialize()
		return err
	})
	return stored
}

func (db *onSQLite) restore(stored any) {
	must(db, db.db.Close())
	pool := sqlitePool(db)
	content, _ := stored.([]byte)
	db.onConnection(pool, func(s serializer) error { return s.Deserialize(content) })
	db.open(pool)
}

// server is a PostgreSQL database for all runs of a test, because a new one takes long.
type server struct {
	url       string
	pool      *bun.DB
	schemas   int
	empty     copied
	tables    []string
	columns   map[string]string // of each table, without generated ones
	sequences []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{url: postgres.NewDatabase(t), columns: map[string]string{}}
	s.connect(t)
	must(t, bunstore.Migrate(t.Context(), s.pool, bunstore.Options{}))
	s.read(t)
	s.empty = s.copy(t)
	return s
}

// connect opens a new pool. The connections of an old one have prepared statements on the tables of another game.
func (s *server) connect(t tb) {
	pool, err := sql.Open("pgx", s.url)
	must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	pool.SetMaxOpenConns(4)
	s.pool = bun.NewDB(pool, pgdialect.New())
}

// read reads the names of the tables of habeas, their columns and their sequences.
func (s *server) read(t tb) {
	var found []struct{ Name, Columns string }
	must(t, s.pool.NewRaw(`SELECT c.relname AS name, (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum)
			FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
		FROM pg_class AS c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`).Scan(t.Context(), &found))
	s.tables = nil
	for _, table := range found {
		s.tables = append(s.tables, table.Name)
		s.columns[table.Name] = table.Columns
	}
	must(t, s.pool.NewRaw(`SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace`).
		Scan(t.Context(), &s.sequences))
}

func (s *server) run(t tb, script string) {
	t.Helper()
	_, err := s.pool.DB.ExecContext(t.Context(), script, pgx.QueryExecModeSimpleProtocol)
	must(t, err)
}

// copied is a copy of all tables in a schema, with the positions of the sequences.
type copied struct{ schema, sequences string }

func (s *server) copy(t tb) copied {
	s.schemas++
	c := copied{schema: fmt.Sprint("copy", s.schemas)}
	script := "CREATE SCHEMA " + c.schema + ";"
	for _, table := range s.tables {
		script += fmt.Sprintf("CREATE TABLE %s.%s AS TABLE public.%[2]s;", c.schema, table)
	}
	s.run(t, script)
	for _, name := range s.sequences {
		var last int64
		var called bool
		must(t, s.pool.NewRaw("SELECT last_value, is_called FROM ?", bun.Ident(name)).Scan(t.Context(), &last, &called))
		c.sequences += fmt.Sprintf("SELECT setval('%s', %d, %t);", name, last, called)
	}
	return c
}

func (s *server) restore(t tb, c copied) {
	script := "BEGIN;"
	for _, table := range s.tables {
		script += fmt.Sprintf("ALTER TABLE public.%[2]s DISABLE TRIGGER ALL; DELETE FROM public.%[2]s;"+
			" INSERT INTO public.%[2]s (%[3]s) OVERRIDING SYSTEM VALUE SELECT %[3]s FROM %[1]s.%[2]s;"+
			" ALTER TABLE public.%[2]s ENABLE TRIGGER ALL;", c.schema, table, s.columns[table])
	}
	s.run(t, script+c.sequences+"COMMIT")
}

// onPostgres is an application on PostgreSQL.
type onPostgres struct {
	onSQL
	*server
}

func (s *server) open(t tb, k kind) database {
	s.connect(t)
	s.run(t, "DROP TABLE IF EXISTS members, notes, invoices, receipts")
	s.read(t)
	s.restore(t, s.empty)
	s.run(t, k.create())
	s.read(t)
	db := &onPostgres{onSQL{tb: t, kind: k}, s}
	db.onSQL.open(s.pool)
	return db
}

func (db *onPostgres) backUp() any {
	c := db.copy(db)
	db.Cleanup(func() {
		_, err := db.pool.DB.ExecContext(context.Background(), "DROP SCHEMA "+c.schema+" CASCADE")
		must(db, err)
	})
	return c
}

func (db *onPostgres) restore(stored any) {
	c, _ := stored.(copied)
	db.server.restore(db, c)
	db.onSQL.open(db.pool)
}
