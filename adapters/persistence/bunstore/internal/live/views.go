package live

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// The reasons why the database may hide rows from the store.
const (
	rowSecurity = "row-level security is active"
	notPlain    = "is a view that may show other rows or values than the table below it"
)

// hidesOfView returns notPlain if the view is not plain in the mapped columns, and "" if it is plain. A plain view
// shows all rows of one table, and the mapped columns are columns of this table.
//
//   - On PostgreSQL, the view and each view below it has no rule and no INSTEAD OF trigger, its definition has neither
//     WHERE nor ONLY, and PostgreSQL can update each mapped column through the view.
//   - On SQLite, the view has no trigger, and its definition is SELECT <columns> FROM <table>.
func (c *Cache) hidesOfView(
	ctx context.Context, query conn.Query, schema string, touched datamap.Table, read definition,
) (string, error) {
	own := c.own
	if read.plain != nil {
		for name, plain := range read.plain {
			if !plain && slices.ContainsFunc(touched.Columns, func(column datamap.Column) bool {
				return c.d.SameName(column.Name, name)
			}) {
				return notPlain, nil
			}
		}
		return "", nil
	}
	view, ok := TokensOf(read.view.String, own.quotes()).plainView()
	if !ok || read.triggered {
		return notPlain, nil
	}
	var base table
	var below definition
	text, parameter := own.inspection(schema, view.table)
	err := query(ctx, func(rows *sql.Rows) error { return base.scan(rows, own.quotes(), &below) }, text, parameter)
	if err != nil || base.types == nil || below.view.Valid {
		return notPlain, err
	}
	for _, name := range view.columns {
		if _, known := c.declared(base.types, name); !known {
			return notPlain, nil
		}
	}
	return "", nil
}

// plainSelect is the definition of a plain view of SQLite.
type plainSelect struct {
	table   string
	columns []string // without *
}

// plainView parses CREATE VIEW name AS SELECT columns FROM table. The last result is false if the statement has any
// other part, such as a condition, a join or an expression.
func (t Tokens) plainView() (view plainSelect, ok bool) {
	i := slices.IndexFunc(t, func(token Token) bool { return Lower(token.Text) == "view" }) + 1
	if t.Is(i, "if") {
		i += 3
	}
	i = t.afterName(i)
	if t.IsSign(i, "(") {
		i = t.closingBracket(i) + 1
	}
	if !t.Is(i, "as") || !t.Is(i+1, "select") {
		return view, false
	}
	for i++; ; {
		i++
		switch {
		case t.IsSign(i, "*"):
			i++
		case i < len(t) && t.isName(i):
			name := i
			if i = t.afterName(i); i > name+1 {
				name = i - 1
			}
			view.columns = append(view.columns, t[name].Text)
			if t.Is(i, "as") {
				i += 2
			}
		default:
			return view, false
		}
		if !t.IsSign(i, ",") {
			break
		}
	}
	if !t.Is(i, "from") || i+1 >= len(t) || !t.isName(i+1) {
		return view, false
	}
	end := t.afterName(i + 1)
	view.table = t[end-1].Text
	return view, end == len(t) || t.IsSign(end, ";") && end == len(t)-1
}

// afterName returns the index after a name that starts at the index i, and that may have a schema.
func (t Tokens) afterName(i int) int {
	for i++; t.IsSign(i, "."); {
		i += 2
	}
	return min(i, len(t))
}

// readInFront looks for a temporary table that has the name of a table of habeas.
func (c *Cache) readInFront(ctx context.Context, query conn.Query, read *Schema) error {
	text := c.own.temporaryTables(c.tables)
	if text == "" {
		return nil
	}
	names, err := query.Texts(ctx, text)
	for _, name := range syntax.TableNames() {
		if own := c.tables.Prefix + name; slices.Contains(names, own) {
			read.inFront = own
		}
	}
	return err
}
