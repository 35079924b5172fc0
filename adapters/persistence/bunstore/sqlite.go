package bunstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
)

type sqlite struct{}

// begin takes the write lock at once: a transaction that reads before it writes could otherwise find that another one
// wrote in between, which no waiting heals.
func (sqlite) begin(ctx context.Context, db *bun.DB) (transaction, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	lock := &lockWait{Conn: conn.Conn}
	_, err = exec(ctx, db, lock, "BEGIN IMMEDIATE")
	switch {
	case lock.left:
		return nil, err
	case err != nil: // it may have begun all the same
		return nil, errors.Join(err, sqliteTransaction{conn}.rollback(context.WithoutCancel(ctx)))
	}
	return sqliteTransaction{conn}, nil
}

// snapshot begins a transaction that only reads, and sees the same in all its statements. It does not take the write
// lock: others go on writing.
func snapshot(ctx context.Context, db *bun.DB) (transaction, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := exec(ctx, db, conn.Conn, "BEGIN"); err != nil { // it may have begun all the same
		return nil, errors.Join(err, sqliteTransaction{conn}.rollback(context.WithoutCancel(ctx)))
	}
	return sqliteTransaction{conn}, nil
}

// lockWait is a connection on which a statement that waits for a lock ends with its context. SQLite waits as long as
// its busy_timeout says, and cannot be interrupted in that.
type lockWait struct {
	*sql.Conn
	left bool // SQLite is still waiting; the connection is thrown away when it has done
}

func (w *lockWait) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	type outcome struct {
		result sql.Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := w.Conn.ExecContext(ctx, query, args...)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		w.left = true
		go func() {
			<-done
			_ = throwAway(w.Conn)
		}()
		return nil, ctx.Err()
	}
}

// throwAway closes a connection, and with it a transaction that may be open.
func throwAway(conn *sql.Conn) error {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	return conn.Close()
}

type sqliteTransaction struct{ c bun.Conn }

func (t sqliteTransaction) conn() bun.IConn { return t.c.Conn }

func (t sqliteTransaction) commit(ctx context.Context) error {
	if _, err := t.c.ExecContext(ctx, "COMMIT"); err != nil {
		return errors.Join(err, t.rollback(context.WithoutCancel(ctx)))
	}
	return t.c.Close()
}

// rollback ends the transaction. A connection that cannot be rolled back is thrown away, and its transaction with it.
func (t sqliteTransaction) rollback(ctx context.Context) error {
	if _, err := t.c.ExecContext(ctx, "ROLLBACK"); err != nil {
		return throwAway(t.c.Conn)
	}
	return t.c.Close()
}

// execAlone leaves a statement behind that still waits for the lock when its context ends. Drivers interrupt it then,
// so that it does nothing once it has the lock.
func (sqlite) execAlone(ctx context.Context, db *bun.DB, text string, args []any) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	lock := &lockWait{Conn: conn.Conn}
	defer func() {
		if !lock.left {
			_ = conn.Close() // which gives it back
		}
	}()
	for i, value := range args { // the statement may outlive what its caller uses again
		if text, ok := value.(string); ok {
			args[i] = strings.Clone(text)
		}
	}
	_, err = exec(ctx, db, lock, text, args...)
	return err
}

func (sqlite) writers() int { return 1 }

func (sqlite) migrations() string { return "sqlite" }

// ownTables looks into the databases that are attached, in the order in which SQLite does.
func (sqlite) ownTables(ctx context.Context, db *bun.DB, conn bun.IConn, _ string) ([]placed, error) {
	var databases []string
	err := query(ctx, db, conn, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		databases = append(databases, name)
		return err
	}, "SELECT name FROM pragma_database_list ORDER BY seq <> 1, seq") // temp is the second, and comes first
	if err != nil {
		return nil, err
	}
	var found []placed
	for _, name := range databases {
		in, err := readPlaced(ctx, db, conn, "SELECT "+literal(name)+", name FROM "+quote(name)+
			".sqlite_master WHERE type = 'table' AND name IN ("+ownTableNames()+") ORDER BY name")
		if err != nil {
			return nil, err
		}
		found = append(found, in...)
	}
	return found, nil
}

// canMigrate knows that tables are made in main.
func (sqlite) canMigrate(schema string) error {
	if schema == "main" {
		return nil
	}
	return configurationError("the tables of habeas lie in the attached database " + schema +
		", which Migrate does not change")
}

func (sqlite) beforeMigration() []string { return nil }

func (sqlite) oneMigration() []string { return nil } // the write lock is held

func (sqlite) prepareMigration(string) []string { return nil } // and there are no schemas

// instantFormat has a fixed width, so that instants sort as texts.
const instantFormat = "2006-01-02T15:04:05.000000Z"

func (sqlite) instant(t time.Time) any { return t.UTC().Format(instantFormat) }

// A transaction that writes has the database to itself.
func (sqlite) instantType() string { return "text" }
func (sqlite) forUpdate() string   { return "" }

func (sqlite) joins() bool          { return false }
func (sqlite) hasStandbys() bool    { return false }
func (sqlite) notification() string { return "" }

func (sqlite) isolation() string { return "" }

func (sqlite) lockLedger(kind, string) string { return "" } // there is one writer at a time
func (sqlite) checkDeferred() string          { return "" }

func (sqlite) constraintTriggers([]domain.Table) string { return "" }
func (sqlite) writtenHere() string                      { return "TRUE" } // it has the database to itself
func (sqlite) lacks(need) string                        { return "SELECT NULL" }

func (sqlite) isConstant(column, constant, _ string) string { return column + " = " + constant }

// fingerprint changes with every change of the main database's schema, and with triggers that are temporary. Those of
// databases that are attached are read each time.
func (sqlite) fingerprint(tables []domain.Table) string {
	if slices.ContainsFunc(tables, func(t domain.Table) bool { return strings.Contains(t.Name, ".") }) {
		return "''"
	}
	return "(SELECT schema_version FROM pragma_schema_version) || ' ' || (SELECT count(*) FROM sqlite_temp_master)"
}

// schemas lists the databases in the order in which SQLite looks a table up.
func (sqlite) schemas(table string) (text string) {
	if schema, _, qualified := strings.Cut(table, "."); qualified {
		return "SELECT " + literal(schema)
	}
	return "SELECT name FROM pragma_database_list ORDER BY name <> 'temp', seq"
}

func (sqlite) inspection(schema, table string) (text, parameter string) {
	_, name, qualified := strings.Cut(table, ".")
	if !qualified {
		name = table
	}
	master := quote(schema) + ".sqlite_master"
	return `
		SELECT m.type = 'view' OR m.sql LIKE 'CREATE VIRTUAL%', FALSE, CASE m.type WHEN 'view' THEN m.sql END,
			(SELECT json_group_object(c.name, c.type)
				FROM pragma_table_xinfo(m.name, ` + literal(schema) + `) AS c WHERE c.hidden = 0),
			NULL,
			(SELECT json_group_array(json_array(t.name, 'sql', t.sql)) FROM (
				SELECT name, sql FROM ` + master + ` WHERE type = 'trigger' AND tbl_name = m.name COLLATE NOCASE
				UNION ALL SELECT name, sql FROM sqlite_temp_master
				WHERE type = 'trigger' AND tbl_name = m.name COLLATE NOCASE) AS t)
		FROM ` + master + ` AS m WHERE m.type IN ('table', 'view') AND m.name = $1 COLLATE NOCASE`, name
}

func (sqlite) bytewise(text string) string { return text + " COLLATE BINARY" } // a cast keeps its column's collation

func (s sqlite) exactly(text, parameter string) string { return s.bytewise(text) + " = " + parameter }

func (sqlite) quotes() map[byte]byte { return map[byte]byte{'"': '"', '`': '`', '[': ']'} }

func (sqlite) sameName(a, b string) bool { return strings.EqualFold(a, b) }
func (sqlite) leavesDeleted() bool       { return true }

// expired takes an instant whose time zone SQLite cannot read for one that is a day later: a duty never ends too early.
func (sqlite) expired(column, parameter string) string {
	return column + " GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND COALESCE(julianday(" + column +
		"), julianday(substr(" + column + ", 1, 19)) + 1) <= julianday(" + parameter + ")"
}

func (sqlite) surrogate(column domain.Column) string {
	switch column.Type { //nolint:exhaustive // the others are common
	case domain.TypeText:
		return anonymousText("lower(hex(randomblob(16)))", column.Length)
	case domain.TypeUUID: // version 4 of RFC 9562
		return "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || " +
			"'-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
	case domain.TypeBytes:
		return "x''"
	case domain.TypeArray: // bun stores it as JSON here
		return "'[]'"
	default:
		return commonSurrogate(column.Type)
	}
}

// The plus changes nothing, but takes the declared type away, by which drivers would convert what stands in the same
// place of other tables.
func (sqlite) exported(column domain.Column) string { return "+t0." + quote(column.Name) }

// read takes JSONB, which is a blob, for the JSON that it stands for.
func (sqlite) read(t domain.ColumnType, value any) any {
	if blob, ok := value.([]byte); ok && (t == domain.TypeJSON || t == domain.TypeArray) {
		if text, ok := textOfJSONB(blob); ok {
			return text
		}
	}
	return value
}
