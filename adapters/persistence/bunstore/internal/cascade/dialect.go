package cascade

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// dialect has the statements that find out which rows the database deletes besides the steps of an erasure, because of
// foreign keys (ON DELETE) and triggers.
type dialect interface {
	// reachText returns the statement that reads a JSON document about the tables to which the steps lead. Package catalog
	// reads the document, see catalog.Reach.
	reachText(w *rows.Writer, steps []domain.Step) string

	// watching returns the first columns of the statement Watch.
	watching(visited, tables []string, triggers bool) string

	// reachedTables, reachedKeys and reachedTriggers return the statements that read what reachText leaves out: the tables of
	// a schema, their foreign keys with an action, and the triggers. They return "" if reachText leaves nothing out.
	reachedTables(schema string) string
	reachedKeys(schema string) string
	reachedTriggers(schema string) string

	// deleted returns the statement that reads how many rows this transaction has deleted from tables, and a number of the
	// storage of each table. This number changes if a statement empties the table with TRUNCATE, which the counters omit.
	// Its parameter is a JSON array with the ids of the tables. deleted returns "" if the database has no such counters.
	deleted() string

	// lockedWholly returns the statement that reads the ids of the tables that this transaction has locked against all
	// others, as TRUNCATE does. It is called only if deleted returns a statement.
	lockedWholly() string

	// beforeDeletion returns the statement that makes a query see its tables as they are before the statements that
	// follow, whenever its rows are fetched, and the statements that fetch the rows and end the query. They are "" if the
	// database has no such queries.
	beforeDeletion(query string) (declare, fetch, end string)
}

func dialectOf(d syntax.Dialect) dialect {
	if d == syntax.Postgres {
		return postgres{}
	}
	return sqlite{}
}
