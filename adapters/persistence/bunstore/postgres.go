package bunstore

import (
	"context"
	"encoding/hex"
	"math"
	"strings"
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

func (postgres) mostJoined() int { return math.MaxInt }

type postgresTransaction struct{ tx bun.Tx }

func (t postgresTransaction) conn() bun.IConn                { return t.tx.Tx }
func (t postgresTransaction) commit(context.Context) error   { return t.tx.Commit() }
func (t postgresTransaction) rollback(context.Context) error { return t.tx.Rollback() }

func (postgres) migrations() string { return "postgres" }

// prepareMigration takes a lock that ends with the transaction. Its number is "habeas" in ASCII.
func (postgres) prepareMigration(schema string) []string {
	prepare := []string{
		"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", // to see what was applied while it waited
		"SELECT pg_advisory_xact_lock(114767471927667)",
	}
	if schema != "" {
		prepare = append(prepare,
			"DO $habeas$ BEGIN IF to_regnamespace('"+strings.ReplaceAll(quote(schema), "'", "''")+"') IS NULL THEN"+
				" CREATE SCHEMA "+quote(schema)+"; END IF; END $habeas$",
			"SET LOCAL search_path TO "+quote(schema))
	}
	return prepare
}

func (postgres) instant(t time.Time) any { return t.UTC() }

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
