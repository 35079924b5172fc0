package constraint

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

type sqlite struct{}

// condition returns "" if the definition of the table has a collation, because the examples have none.
func (sqlite) condition(
	ctx context.Context, tx *conn.Tx, table string, check datamap.CatalogCheck,
) (condition string, err error) {
	schema, name := cutMain(table)
	var attached, definition string
	err = tx.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&attached) },
		"SELECT name FROM pragma_database_list WHERE name = $1 COLLATE NOCASE", schema)
	if err != nil || attached == "" {
		return "", err
	}
	err = tx.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&definition) },
		"SELECT sql FROM "+syntax.Quote(attached)+".sqlite_master WHERE type = 'table' AND name = $1 COLLATE NOCASE", name)
	if err != nil {
		return "", err
	}
	if text := sqltext.TokensOf(check.Text, sqltext.QuotesOfSQLite); text.Is(0, "create") {
		return ofIndex(ctx, tx, attached, name, definition, check.Text)
	}
	before, after, found := strings.Cut(definition, check.Text)
	if !found || hasCollation(before+after) {
		return "", nil
	}
	word, condition := cutWord(check.Text)
	if !strings.EqualFold(word, "CHECK") {
		return "", nil
	}
	return condition, nil
}

func hasCollation(definition string) bool {
	return strings.Contains(strings.ToUpper(definition), "COLLATE")
}

// ofIndex returns the condition of a partial index, whose definition is the text, or "" if the table has no such index.
func ofIndex(ctx context.Context, tx *conn.Tx, schema, table, definition, text string) (condition string, err error) {
	isIndex := false
	err = tx.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&isIndex) }, "SELECT count(*) > 0 FROM "+
		syntax.Quote(schema)+".sqlite_master WHERE type = 'index' AND tbl_name = $1 COLLATE NOCASE AND sql = $2", table, text)
	if err != nil || !isIndex || hasCollation(definition) {
		return "", err
	}
	for _, token := range sqltext.TokensOf(text, sqltext.QuotesOfSQLite) {
		if token.Kind == sqltext.TokenWord && strings.EqualFold(token.Text, "where") {
			return "(" + text[token.To:] + ")", nil
		}
	}
	return "", nil
}

// cutMain cuts the name of a table into the name of its database, main by default, and its own name.
func cutMain(table string) (schema, name string) {
	if schema, name, found := strings.Cut(table, "."); found {
		return schema, name
	}
	return "main", table
}

// cutWord cuts the text after the letters at its beginning.
func cutWord(text string) (word, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// columns gives each value the affinity of its column: the type to which SQLite converts what a statement writes.
func (sqlite) columns(
	ctx context.Context, tx *conn.Tx, table string, _ datamap.CatalogCheck,
) (columns []column, err error) {
	schema, name := cutMain(table)
	err = tx.Query(ctx, func(rows *sql.Rows) error {
		var name, declared string
		if err := rows.Scan(&name, &declared); err != nil {
			return err
		}
		columns = append(columns, column{name, name, func(placeholder string, value any) (string, any) {
			return stored(declared, placeholder, value), value
		}})
		return nil
	}, "SELECT name, type FROM pragma_table_xinfo($1, $2)", name, schema)
	return columns, err
}

// stored returns the expression for a value that SQLite has stored in a column of the declared type. A text that is not
// a number stays a text in a column of numbers.
func stored(declared, placeholder string, value any) string {
	to := "NUMERIC"
	switch syntax.AffinityOf(declared) { //nolint:exhaustive // the others convert to numbers
	case syntax.AffinityText:
		to = "TEXT"
	case syntax.AffinityNone:
		return placeholder
	case syntax.AffinityReal:
		to = "REAL"
	}
	switch value := value.(type) {
	case string:
		if _, err := strconv.ParseFloat(value, 64); err != nil && to != "TEXT" {
			return placeholder
		}
	case []byte:
		return placeholder
	}
	return "CAST(" + placeholder + " AS " + to + ")"
}

// limitTime does nothing, because SQLite ends a statement with its context.
func (sqlite) limitTime(context.Context, *conn.Tx) error { return nil }

func (sqlite) sameName(a, b string) bool { return syntax.Lower(a) == syntax.Lower(b) }

// mistakes reports whether the name occurs in the condition, because SQLite takes a quoted name for a text if there is
// no such column.
func (sqlite) mistakes(condition, column string) bool {
	const outside = `[^\pL\d_$]`
	return regexp.MustCompile("(?i)(?:^|" + outside + ")" + regexp.QuoteMeta(column) + "(?:" + outside + "|$)").
		MatchString(condition)
}
