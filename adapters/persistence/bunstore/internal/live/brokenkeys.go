package live

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
)

// ForeignKey identifies a foreign key of SQLite. Foreign keys have no name in SQLite.
type ForeignKey struct {
	table, references string
	number            int // the number of the foreign key in its table
}

// Refusal returns the error message for a violated foreign key.
func (k ForeignKey) Refusal() string {
	return "the database would refuse the commit because of a foreign key" +
		" (table " + k.table + ", references " + k.references + ")"
}

// ReadBrokenKeys counts the rows that violate a deferred foreign key, separately for each key. On PostgreSQL, which has
// a statement that checks deferred constraints, the result is empty.
func (c *Cache) ReadBrokenKeys(ctx context.Context, query conn.Query) (map[ForeignKey]int64, error) {
	schemas, err := query.Texts(ctx, c.own.schemas(""))
	if err != nil {
		return nil, err
	}
	broken := map[ForeignKey]int64{}
	for _, schema := range schemas {
		err := query(ctx, func(rows *sql.Rows) error {
			var key ForeignKey
			var n int64
			err := rows.Scan(&key.table, &key.references, &key.number, &n)
			broken[key] += n
			return err
		}, c.own.brokenForeignKeys(schema))
		if err != nil {
			return nil, err
		}
	}
	return broken, nil
}
