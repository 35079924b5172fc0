package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/uptrace/bun"
)

// placed is a table of habeas and the schema that it lies in.
type placed struct{ schema, table string }

// ownTableNames lists the tables of habeas, as texts of SQL.
func ownTableNames() string {
	names := namesOf("")
	own := []string{"habeas_migrations", names.consents, names.restrictions, names.events, names.outbox, names.erasures}
	for i, name := range own {
		own[i] = literal(name)
	}
	return strings.Join(own, ", ")
}

func readPlaced(ctx context.Context, db *bun.DB, conn bun.IConn, text string) (found []placed, err error) {
	err = query(ctx, db, conn, func(rows *sql.Rows) error {
		var p placed
		err := rows.Scan(&p.schema, &p.table)
		found = append(found, p)
		return err
	}, text)
	return found, err
}

// onlySchema is the schema of tables, or "" where there are none. Where there is another, a part of what was recorded
// would be hidden behind an empty table.
func onlySchema(tables []placed) (string, error) {
	var schemas []string
	for _, table := range tables {
		if !slices.Contains(schemas, table.schema) {
			schemas = append(schemas, table.schema)
		}
	}
	switch len(schemas) {
	case 0:
		return "", nil
	case 1:
		return schemas[0], nil
	default:
		return "", configurationError("the tables of habeas lie in more than one schema that unqualified names can mean (" +
			strings.Join(schemas, ", ") + "): name the one in Options.Schema, or take it out of the search path")
	}
}
