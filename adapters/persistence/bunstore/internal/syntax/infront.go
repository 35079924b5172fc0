package syntax

import "github.com/habeas-data/habeas/domain"

const (
	inFrontOnPostgres = `
		SELECT {column} FROM pg_catalog.pg_class AS f
		WHERE {hides} AND f.relnamespace = pg_my_temp_schema() AND f.relkind IN ('r', 'p', 'v', 'm', 'f')
			AND f.relname = ANY (ARRAY(SELECT CAST({prefix} || n.column1 AS name) FROM (VALUES {names}) AS n))`

	inFrontOnSQLite = `
		SELECT f.name FROM sqlite_temp_master AS f
		WHERE f.type IN ('table', 'view')
			AND lower(f.name) IN (SELECT {prefix} || n.column1 FROM (VALUES {names}) AS n)`
)

// InFront returns the query for the names of the temporary tables and views that hide a table of habeas: a statement
// without the name of a schema finds them instead. Almost all connections have no temporary tables, and the query then
// reads nothing.
func (t Tables) InFront(d Dialect) string {
	return Choose(d, t.inFrontOnPostgres("CAST(f.relname AS text)"), t.inFront(inFrontOnSQLite))
}

// OidsInFront returns the query of InFront for the oids of PostgreSQL.
func (t Tables) OidsInFront() string { return t.inFrontOnPostgres("f.oid") }

func (t Tables) inFrontOnPostgres(column string) string {
	hides := "pg_my_temp_schema() <> 0"
	if t.areQualified() {
		hides = "FALSE"
	}
	return t.inFront(inFrontOnPostgres, "column", column, "hides", hides)
}

func (t Tables) inFront(text string, replacements ...string) string {
	names := Join(TableNames(), ", ", func(name string) string { return "(" + Literal(name) + ")" })
	return Fill(text, append(replacements, "prefix", Literal(t.Prefix), "names", names)...)
}

// RefuseInFront returns the error for a temporary table that hides a table of the data map or of habeas.
func RefuseInFront(op, name string) *domain.Error {
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: op, Message: name + ": is a temporary table on this connection, in front of any" +
			" other table of this name. Drop it, or name the schema of the table",
	}
}
