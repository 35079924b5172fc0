package triggers

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// assignments returns the columns of the table that the code of the trigger sets in its own row to a value that is made
// of the row, in three forms:
//
//   - NEW.column := value, and NEW.column = value at the begin of a statement, in a trigger that runs before the row
//     is written
//   - SELECT value INTO NEW.column, in such a trigger
//   - UPDATE table SET column = value
//
// A variable in a value stands for the values that the code before gives it. The columns in renewed get a value that is
// not made of the row before the statement.
func (t trigger) assignments(text sqltext.Tokens) (sets []Assignment, renewed []string) {
	held := variables{}
	begin := 0 // of the statement
	for i := range text {
		add := func(column string, value, where sqltext.Tokens) {
			name, ok := columnCalled(t.table, column)
			selects := selected(value)
			value, set := held.in(value)
			reads, old := rowReads(value)
			if ok && !old {
				renewed = append(renewed, name)
			}
			if !ok || len(reads) == 0 {
				return
			}
			if own := t.ownSelected(selects); len(own) > 0 {
				reads, old = append(reads, own...), true
			}
			for i := range reads {
				reads[i], _ = columnCalled(t.table, reads[i])
			}
			assignment := Assignment{Column: name, Reads: reads, Old: old, Selects: selects}
			if !old && !mentions(value, name) {
				assignment.Follows = t.follows(text, i, where)
				for _, at := range set {
					along := t.follows(text, at, nil)
					assignment.Follows = slices.DeleteFunc(assignment.Follows, func(name string) bool {
						return !slices.Contains(along, name)
					})
				}
			}
			sets = append(sets, assignment)
		}
		if beginsStatement(text, i) {
			begin = i
		}
		held.read(text, begin, i, t.table)
		switch {
		case t.early && text.Is(i, "new") && text.IsSign(i+1, ".") && i+2 < len(text):
			end := text.EndOfStatement(i)
			switch assigns := text.IsSign(i+3, ":") || text.IsSign(i+3, "="); {
			case assigns && i == begin:
				add(text[i+2].Text, text[i+3:end], nil)
			case text.Is(i-1, "into"):
				add(text[i+2].Text, slices.Concat(text[begin:i], text[i+3:end]), nil)
			}
		case text.Is(i, "set") && isUpdateOf(text, i, t.table):
			end := text.EndOfStatement(i)
			where := text[:end].Until(i+1, "from", "where")
			where = text[i+1+len(where) : end]
			for from := i + 1; from < end; {
				to := text.EndOfValue(from, end)
				if text.IsSign(from+1, "=") {
					add(text[from].Text, text[from+2:to], where)
				}
				if !text.IsSign(to, ",") {
					break
				}
				from = to + 1
			}
		}
	}
	return sets, renewed
}

// selected returns the names in the queries of a value, in lower case: those of what they select, and of the tables,
// but not those of conditions. It returns nil if no query reads a table.
func selected(value sqltext.Tokens) (found []string) {
	begin := 0
	for begin < len(value) && !value.Is(begin, "select") {
		begin++
	}
	query, counts := value[begin:], false
	if !query.Has("from") {
		return nil
	}
	for i := range query {
		switch {
		case query.Is(i, "select", "from", "join"):
			counts = true
			continue
		case query.Is(i, "where", "on", "using", "group", "having", "order", "limit"):
			counts = false
		}
		isRow := query.Is(i, "new", "old") || query.IsSign(i-1, ".") && query.Is(i-2, "new", "old")
		name := strings.ToLower(query[i].Text)
		if counts && query.IsName(i) && !isRow && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// ownSelected returns the columns that a query reads of the trigger's table, which still has the row before the
// statement. Its keys do not count, because the query finds the row by them.
func (t trigger) ownSelected(names []string) (columns []string) {
	if !slices.Contains(names, strings.ToLower(plainName(t.table))) {
		return nil
	}
	for _, column := range t.table.Columns {
		if slices.Contains(names, strings.ToLower(column.Name)) && !slices.Contains(t.table.PrimaryKey, column.Name) {
			columns = append(columns, column.Name)
		}
	}
	return columns
}

// follows returns Assignment.Follows of an assignment at i. The parameter where is empty, or the part of an UPDATE
// from FROM or WHERE on.
func (t trigger) follows(text sqltext.Tokens, i int, where sqltext.Tokens) (columns []string) {
	conditions := slices.Clone(t.when)
	switch {
	case where.Is(0, "where"):
		conditions = append(conditions, where[1:len(where.Until(0, "returning"))])
	case len(where) > 0:
		return nil
	}
	if !slices.Contains(t.Events, "UPDATE") {
		return nil
	}
	for _, column := range t.table.Columns {
		at := change{table: t.table, column: column.Name}
		if (len(t.of) == 0 || mentions(t.of, column.Name)) && at.runsAt(text, i) &&
			at.enters(guard{conditions: conditions}) == yes {
			columns = append(columns, column.Name)
		}
	}
	return columns
}

// mentions reports whether a name occurs in the tokens.
func mentions(t sqltext.Tokens, name string) bool {
	return slices.ContainsFunc(t, func(token sqltext.Token) bool {
		return (token.Kind == sqltext.TokenWord || token.Kind == sqltext.TokenName) && strings.EqualFold(token.Text, name)
	})
}

// columnCalled returns the name of a column as the database stores it, and "*" unchanged.
func columnCalled(table datamap.CatalogTable, name string) (string, bool) {
	for _, column := range table.Columns {
		if strings.EqualFold(column.Name, name) {
			return column.Name, true
		}
	}
	return name, false
}

// isUpdateOf reports whether the keyword SET at i belongs to an UPDATE of the table.
func isUpdateOf(t sqltext.Tokens, i int, table datamap.CatalogTable) bool {
	for back := i - 1; back >= 0 && back >= i-6; back-- {
		if t.Is(back, "update") {
			at := back + 1
			if t.Is(at, "only") {
				at++
			}
			name := t.NameAt(at)
			return isCalled(table, name)
		}
	}
	return false
}

// isCalled reports whether a name in the code of a trigger denotes its table.
func isCalled(table datamap.CatalogTable, name string) bool {
	plain := plainName(table)
	return strings.EqualFold(name, table.Name) || strings.EqualFold(name, table.Schema+"."+plain) ||
		table.FoldsCase && strings.EqualFold(name, plain)
}

// plainName returns the name of a table without its schema.
func plainName(table datamap.CatalogTable) string {
	return strings.TrimPrefix(table.Name, table.Schema+".")
}

// rowReads returns the columns of NEW and OLD in a value. The result has "*" for a complete row. The second result
// reports whether the value reads OLD.
func rowReads(t sqltext.Tokens) (columns []string, old bool) {
	for i := range t {
		if !t.Is(i, "new", "old") || t.IsSign(i-1, ".") {
			continue
		}
		old = old || t.Is(i, "old")
		name := "*"
		if t.IsSign(i+1, ".") && i+2 < len(t) {
			name = t[i+2].Text
		}
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	return columns, old
}
