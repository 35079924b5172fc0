package constraint

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

type postgres struct{}

// A constraint of a domain belongs to no table. The condition of a partial index has no constraint.
const conditionOfPostgres = `
	SELECT pg_get_expr(k.conbin, k.conrelid) FROM pg_catalog.pg_constraint AS k
	WHERE k.contype = 'c' AND pg_get_constraintdef(k.oid) = $2
		AND (k.conrelid = to_regclass($1) OR k.conrelid = 0 AND to_regclass($1) IS NOT NULL)
	UNION ALL
	SELECT pg_get_expr(i.indpred, i.indrelid) FROM pg_catalog.pg_index AS i
	WHERE i.indrelid = to_regclass($1) AND pg_get_expr(i.indpred, i.indrelid) = $2
	LIMIT 1`

func (postgres) condition(
	ctx context.Context, tx *conn.Tx, table string, check datamap.CatalogCheck,
) (condition string, err error) {
	err = tx.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&condition) },
		conditionOfPostgres, qualified(table), check.Text)
	return condition, err
}

// The statement returns the type below each domain, because a conversion to the domain would itself check the
// constraints of the domain. The type has no length, because a conversion to a shorter type would cut the value.
const columnsOfPostgres = `
	WITH RECURSIVE base (name, number, type, sorted) AS (
		SELECT a.attname, a.attnum, a.atttypid, a.attcollation FROM pg_catalog.pg_attribute AS a
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
		UNION ALL
		SELECT b.name, b.number, t.typbasetype, b.sorted FROM base AS b
		JOIN pg_catalog.pg_type AS t ON t.oid = b.type AND t.typtype = 'd')
	SELECT b.name, format_type(b.type, -1), CASE WHEN b.sorted <> t.typcollation
		THEN ' COLLATE ' || CAST(CAST(b.sorted AS regcollation) AS text) ELSE '' END
	FROM base AS b JOIN pg_catalog.pg_type AS t ON t.oid = b.type AND t.typtype <> 'd'
	ORDER BY b.number`

// columns adds the column "value" for the constraint of a domain: there, VALUE is the value of the column.
func (d postgres) columns(
	ctx context.Context, tx *conn.Tx, table string, check datamap.CatalogCheck,
) (columns []column, err error) {
	err = tx.Query(ctx, func(rows *sql.Rows) error {
		var name, declared, collation string
		if err := rows.Scan(&name, &declared, &collation); err != nil {
			return err
		}
		columns = append(columns, column{name, name, func(placeholder string, value any) (string, any) {
			return "CAST(CAST(" + placeholder + " AS text) AS " + declared + ")" + collation, textOf(value)
		}})
		return nil
	}, columnsOfPostgres, qualified(table))
	if err != nil || len(check.Columns) != 1 {
		return columns, err
	}
	for _, c := range columns {
		switch c.name {
		case "value":
			return columns, nil
		case check.Columns[0]:
			c.name = "value"
			columns = append(columns, c)
		}
	}
	return columns, nil
}

// textOf returns the text form of a value.
func textOf(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case []byte:
		return fmt.Sprintf(`\x%x`, value)
	default:
		return fmt.Sprint(value)
	}
}

func (postgres) limitTime(ctx context.Context, tx *conn.Tx) error {
	_, err := tx.Exec(ctx, "SET LOCAL statement_timeout = "+strconv.FormatInt(limit.Milliseconds(), 10))
	return err
}

func (postgres) sameName(a, b string) bool { return a == b }

func (postgres) mistakes(string, string) bool { return false }

// qualified returns the quoted name of a table. The name may be empty.
func qualified(table string) string {
	if schema, name, found := strings.Cut(table, "."); found {
		return syntax.Quote(schema) + "." + syntax.Quote(name)
	}
	return syntax.Quote(table)
}
