package bunstore

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
)

type postgres struct{}

func (postgres) begin(ctx context.Context, db *bun.DB) (transaction, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return postgresTransaction{tx}, nil
}

type postgresTransaction struct{ tx bun.Tx }

func (t postgresTransaction) conn() bun.IConn                { return t.tx.Tx }
func (t postgresTransaction) commit(context.Context) error   { return t.tx.Commit() }
func (t postgresTransaction) rollback(context.Context) error { return t.tx.Rollback() }

func (postgres) migrations() string { return "postgres" }

func (postgres) execAlone(ctx context.Context, db *bun.DB, text string, args []any) error {
	_, err := exec(ctx, db, db.DB, text, args...)
	return err
}

func (postgres) writers() int { return 0 }

// ownTables looks where the search path of the connection leads; schemas that the role may not use are not on it.
func (postgres) ownTables(ctx context.Context, db *bun.DB, conn bun.IConn, schema string) ([]placed, error) {
	where := "n.nspname = ANY(current_schemas(false))"
	if schema != "" {
		where = "n.nspname = " + quoteText(schema)
	}
	return readPlaced(ctx, db, conn, "SELECT CAST(n.nspname AS text), CAST(c.relname AS text) FROM pg_catalog.pg_class c"+
		" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND "+where+
		" AND c.relname IN ("+ownTableNames()+") ORDER BY array_position(current_schemas(false), n.nspname), c.relname")
}

func (postgres) canMigrate(string) error { return nil }

func (postgres) beforeMigration() []string {
	return []string{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED"} // to see what was applied while it waited
}

// oneMigration takes a lock that ends with the transaction. Its number is "habeas" in ASCII.
func (postgres) oneMigration() []string {
	return []string{"SELECT pg_advisory_xact_lock(114767471927667)"}
}

func (postgres) prepareMigration(schema string) []string {
	return []string{
		"DO $habeas$ BEGIN IF to_regnamespace(" + quoteText(quote(schema)) + ") IS NULL THEN" +
			" CREATE SCHEMA " + quote(schema) + "; END IF; END $habeas$",
		"SET LOCAL search_path TO " + quote(schema),
	}
}

func (postgres) instant(t time.Time) any { return domain.Instant(t) } // drivers would cut or round

func (postgres) instantType() string { return "timestamptz" }
func (postgres) skipLocked() string  { return " FOR UPDATE SKIP LOCKED" }
func (postgres) forUpdate() string   { return " FOR UPDATE" }

func (postgres) rowID() (name, sqlType string) { return "ctid", "tid" }

func (postgres) useIndex(string) string { return "" } // it thinks of it

func (postgres) joins() bool { return true }

// notification names the channel as package pgxlisten does.
func (postgres) notification() string { return "SELECT pg_notify('habeas_outbox', '')" }

func (postgres) surrogate(column domain.Column) string {
	switch column.Type { //nolint:exhaustive // the others are common
	case domain.TypeText:
		return anonymousText("replace(CAST(gen_random_uuid() AS text), '-', '')", column.Length)
	case domain.TypeUUID:
		return "gen_random_uuid()"
	default:
		return commonSurrogate(column.Type)
	}
}

// exported makes a text of everything, such that the session's ways to write times and bytes do not matter.
func (postgres) exported(column domain.Column) string {
	name := "t0." + quote(column.Name)
	switch column.Type { //nolint:exhaustive // the others have one form as text
	case domain.TypeText: // whatever its type is, as clients are shown it; a cast would pad or strip some
		return "CASE WHEN " + name + " IS NOT NULL THEN concat(" + name + ") END"
	case domain.TypeTime: // also one that is stored as text
		return "to_json(" + name + ") #>> '{}'"
	case domain.TypeBytes:
		return "encode(" + name + ", 'hex')"
	case domain.TypeArray:
		name = "to_json(" + name + ")"
	}
	return "CAST(" + name + " AS text)"
}

func (postgres) read(t domain.ColumnType, value any) any {
	if t == domain.TypeBytes {
		if decoded, err := hex.DecodeString(textOf(value)); err == nil {
			return decoded
		}
	}
	return value
}
