package syntax

import "github.com/habeas-data/habeas/domain"

const (
	inFrontOnPostgres = `
		SELECT {column} FROM pg_catalog.pg_class AS f
		WHERE {hides} AND f.relnamespace = pg_my_temp_schema() AND f.relkind IN ('r', 'p', 'v', 'm', 'f')
			AND f.relname IN ({names})`

	inFrontOnSQLite = `
		SELECT f.name FROM sqlite_temp_master AS f
		WHERE f.type IN ('table', 'view') AND lower(f.name) IN ({names})`
)

// InFront returns the query for the names of the temporary tables and views that hide a table of habeas: a statement
// without the name of a schema finds them instead. Almost all connections have no temporary tables, and the query then
// reads nothing.
func (t Tables) InFront(d Dialect) string {
	return Choose(d, t.inFrontOnPostgres("CAST(f.relname AS text)"), t.inFront(inFrontOnSQLite, "{prefix} || {name}"))
}

// OidsInFront returns the query of InFront for the oids of PostgreSQL.
func (t Tables) OidsInFront() string { return t.inFrontOnPostgres("f.oid") }

func (t Tables) inFrontOnPostgres(column string) string {
	hides := "pg_my_temp_schema() <> 0"
	if t.areQualified() {
		hides = "FALSE"
	}
	return t.inFront(inFrontOnPostgres, "CAST({prefix} || {name} AS name)", "column", column, "hides", hides)
}

func (t Tables) inFront(text, element string, replacements ...string) string {
	names := Join(TableNames(), ", ", func(name string) string {
		return Fill(element, "prefix", Literal(t.Prefix), "name", Literal(name))
	})
	return Fill(text, append(replacements, "names", names)...)
}

// RefuseInFront returns the error for a temporary table that hides a table of the data map or of habeas.
func RefuseInFront(op, name string) *domain.Error {
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: op, Message: name + ": is a temporary table on this connection, in front of any" +
			" other table of this name. Drop it, or name the schema of the table",
	}
}
