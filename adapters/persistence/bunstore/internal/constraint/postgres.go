package constraint

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

type postgres struct{}

// conditionOf finds the condition of a constraint, of a partial index, or of the partitions of a table. A constraint of
// a domain belongs to no table. The other conditions have no constraint.
//
// The statement returns no row if an evaluation could run code of a role that the connection does not trust: a function
// or an operator of the condition, a type of a column, a cast of such a type, or a constraint of a domain in it. It
// returns no row either if the condition calls a volatile function, which can act outside the transaction. The catalog
// does not list the functions of PostgreSQL itself as dependencies, so that they are read from the condition. Stable
// ones can read other tables, such as table_to_xml, and are not run for the owner of a table who is not trusted.
const conditionOf = `,
	place (class, oid, condition, relation) AS (
		SELECT {oid of pg_constraint}, k.oid, k.conbin, k.conrelid FROM pg_catalog.pg_constraint AS k
		WHERE k.contype {=} 'c' AND pg_catalog.pg_get_constraintdef(k.oid) {=} $2
			AND (k.conrelid {=} {table} OR k.conrelid {=} 0 AND {table} IS NOT NULL)
		UNION ALL
		SELECT {oid of pg_class}, i.indexrelid, i.indpred, i.indrelid FROM pg_catalog.pg_index AS i
		WHERE i.indrelid {=} {table} AND pg_catalog.pg_get_expr(i.indpred, i.indrelid) {=} $2
		UNION ALL
		SELECT {oid of pg_class}, {table}, NULL, {table} WHERE {rows of partitions} {=} $2
		LIMIT 1
	), used (class, oid) AS (
		SELECT class, oid FROM place
		UNION
		SELECT {oid of pg_class}, {table}
		UNION
		SELECT {oid of pg_class}, CAST(l.relid AS pg_catalog.oid) FROM pg_catalog.pg_partition_tree({table}) AS l
		UNION
		SELECT f.class, f.oid FROM used AS u CROSS JOIN LATERAL (
			SELECT d.refclassid, d.refobjid FROM pg_catalog.pg_depend AS d WHERE d.classid {=} u.class AND d.objid {=} u.oid
			UNION ALL
			SELECT {oid of pg_constraint}, k.oid FROM pg_catalog.pg_constraint AS k
			WHERE u.class {=} {oid of pg_type} AND k.contypid {=} u.oid
			UNION ALL
			SELECT {oid of pg_proc}, c.castfunc FROM pg_catalog.pg_cast AS c
			WHERE u.class {=} {oid of pg_type} AND (c.castsource {=} u.oid OR c.casttarget {=} u.oid)
		) AS f (class, oid)
		WHERE u.class {<>} {oid of pg_proc} AND f.class {=} ANY (ARRAY[{oid of pg_constraint}, {oid of pg_class},
			{oid of pg_type}, {oid of pg_proc}, {oid of pg_operator}])
	), function (oid) AS (
		SELECT oid FROM used WHERE class {=} {oid of pg_proc}
		UNION
		SELECT CAST(m.found[1] AS pg_catalog.oid) FROM (
			SELECT condition FROM place
			UNION ALL
			SELECT k.conbin FROM used AS u JOIN pg_catalog.pg_constraint AS k ON k.oid {=} u.oid
			WHERE u.class {=} {oid of pg_constraint}
		) AS e (condition)
		CROSS JOIN LATERAL pg_catalog.regexp_matches(CAST(e.condition AS pg_catalog.text),
			':(?:funcid|opfuncid) ([0-9]+)', 'g') AS m (found)
	)
	SELECT COALESCE(pg_catalog.pg_get_expr(place.condition, place.relation), {rows of partitions}) FROM place
	WHERE NOT EXISTS (
		SELECT FROM stranger JOIN (
			SELECT p.proowner FROM function JOIN pg_catalog.pg_proc AS p ON p.oid {=} function.oid
			UNION ALL
			SELECT o.oprowner FROM used JOIN pg_catalog.pg_operator AS o ON o.oid {=} used.oid
			WHERE used.class {=} {oid of pg_operator}
			UNION ALL
			SELECT t.typowner FROM used JOIN pg_catalog.pg_type AS t ON t.oid {=} used.oid
			WHERE used.class {=} {oid of pg_type}
		) AS owner (oid) ON owner.oid {=} stranger.oid
	) AND NOT EXISTS (
		SELECT FROM function JOIN pg_catalog.pg_proc AS p ON p.oid {=} function.oid
		WHERE p.provolatile {=} 'v' OR p.provolatile {=} 's' AND EXISTS (
			SELECT FROM used JOIN pg_catalog.pg_class AS c ON c.oid {=} used.oid
			JOIN stranger ON stranger.oid {=} c.relowner WHERE used.class {=} {oid of pg_class})
	)`

func (postgres) condition(
	ctx context.Context, tx *conn.Tx, table string, check datamap.CatalogCheck,
) (condition string, err error) {
	err = tx.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&condition) },
		syntax.FillWithStrangers(strings.ReplaceAll(conditionOf, "{rows of partitions}", live.RowsOfPartitions("{table}")),
			"table", "CAST(pg_catalog.to_regclass($1) AS pg_catalog.oid)"),
		qualified(table), check.Text)
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
