package live

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// These functions of PostgreSQL work on the columns that the arguments of their triggers name. The first argument of
// each is a column. The arguments after the second are the columns that a full-text search covers.
const (
	unlinker     = "lo_manage" // of the extension lo
	searcher     = "tsvector_update_trigger"
	searcherOfIt = "tsvector_update_trigger_column"
)

// addAssignments adds the columns that a trigger sets in its own row. The parameter code is the routine of the trigger.
func (l *reader) addAssignments(table *Table, trigger *liveTrigger, code *routine) {
	args := slices.DeleteFunc(slices.Clone(trigger.Args), func(arg string) bool { return arg == "" })
	switch {
	case len(args) > 0 && code.Name == unlinker && code.Language == "c":
		trigger.Unlinks = args[0]
	case len(args) > 2 && (code.Name == searcher || code.Name == searcherOfIt) && code.Language == "internal":
		set := datamap.TriggerAssignment{Column: args[0], Reads: args[2:]}
		set.Follows = trigger.follows(table, Tokens{}, 0, nil)
		trigger.Sets = []datamap.TriggerAssignment{set}
	case code.Language == "sql", code.Language == "plpgsql":
		trigger.addAssignmentsIn(TokensOf(code.Text, l.own.quotes()), table)
	}
}

// addAssignmentsIn adds the columns of the table that the code of its trigger sets in its own row to a value that is
// made of the row, in three forms:
//
//   - NEW.column := value, and NEW.column = value at the begin of a statement, in a trigger that runs before the row
//     is written
//   - SELECT value INTO NEW.column, in such a trigger
//   - UPDATE table SET column = value
//
// A variable in a value stands for the values that the code before gives it.
func (trigger *liveTrigger) addAssignmentsIn(text Tokens, table *Table) {
	text = text.body()
	held := variables{}
	begin := 0 // of the statement
	for i := range text {
		add := func(column string, value, where Tokens) {
			name, ok := table.columnCalled(column)
			value, set := held.in(value)
			reads, old := value.rowReads()
			if !ok || len(reads) == 0 {
				return
			}
			for i := range reads {
				reads[i], _ = table.columnCalled(reads[i])
			}
			assignment := datamap.TriggerAssignment{Column: name, Reads: reads, Old: old}
			if !old && !value.mentions(name) {
				assignment.Follows = trigger.follows(table, text, i, where)
				for _, at := range set {
					along := trigger.follows(table, text, at, nil)
					assignment.Follows = slices.DeleteFunc(assignment.Follows, func(name string) bool {
						return !slices.Contains(along, name)
					})
				}
			}
			trigger.Sets = append(trigger.Sets, assignment)
		}
		if i == 0 || text.IsSign(i-1, ";") || text.Is(i-1, "declare", "begin", "then", "else", "loop") {
			begin = i
		}
		held.read(text, begin, i, table)
		switch {
		case trigger.early && text.Is(i, "new") && text.IsSign(i+1, ".") && i+2 < len(text):
			end := text.endOfStatement(i)
			switch assigns := text.IsSign(i+3, ":") || text.IsSign(i+3, "="); {
			case assigns && i == begin:
				add(text[i+2].Text, text[i+3:end], nil)
			case text.Is(i-1, "into"):
				add(text[i+2].Text, slices.Concat(text[begin:i], text[i+3:end]), nil)
			}
		case text.Is(i, "set") && text.isUpdateOf(i, table):
			end := text.endOfStatement(i)
			where := text[:end].until(i+1, "from", "where")
			where = text[i+1+len(where) : end]
			for from := i + 1; from < end; {
				to := text.endOfValue(from, end)
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
}

// body returns the tokens of the code of a trigger of SQLite or of a rule without its header, and other code unchanged.
func (t Tokens) body() Tokens {
	if t.Is(0, "create") {
		return t[len(t.until(0, "begin", "do")):]
	}
	return t
}

// follows returns CatalogTrigger.Follows of an assignment at i. The parameter where is empty, or the part of an UPDATE
// from FROM or WHERE on.
func (trigger *liveTrigger) follows(table *Table, text Tokens, i int, where Tokens) (columns []string) {
	conditions := slices.Clone(trigger.when)
	switch {
	case where.Is(0, "where"):
		conditions = append(conditions, where[1:len(where.until(0, "returning"))])
	case len(where) > 0:
		return nil
	}
	if !slices.Contains(trigger.Events, "UPDATE") {
		return nil
	}
	for _, column := range table.Columns {
		at := change{table, column.Name}
		if (len(trigger.of) == 0 || trigger.of.mentions(column.Name)) && at.runsAt(text, i) &&
			at.enters(guard{conditions: conditions}) == yes {
			columns = append(columns, column.Name)
		}
	}
	return columns
}

// mentions reports whether a name occurs in the tokens.
func (t Tokens) mentions(name string) bool {
	return slices.ContainsFunc(t, func(token Token) bool {
		return (token.Kind == TokenWord || token.Kind == TokenName) && strings.EqualFold(token.Text, name)
	})
}

// columnCalled returns the name of a column as the database stores it, and "*" unchanged.
func (t *Table) columnCalled(name string) (string, bool) {
	for _, column := range t.Columns {
		if strings.EqualFold(column.Name, name) {
			return column.Name, true
		}
	}
	return name, false
}

// isUpdateOf reports whether the keyword SET at i belongs to an UPDATE of the table.
func (t Tokens) isUpdateOf(i int, table *Table) bool {
	for back := i - 1; back >= 0 && back >= i-6; back-- {
		if t.Is(back, "update") {
			at := back + 1
			if t.Is(at, "only") {
				at++
			}
			name := t.NameAt(at)
			return sameTable(name, table.Unnamed) || sameTable(name, table.Schema+"."+table.Unnamed)
		}
	}
	return false
}

// endOfStatement returns the index of the semicolon that ends the statement with the token at i.
func (t Tokens) endOfStatement(i int) int {
	for ; i < len(t) && !t.IsSign(i, ";"); i++ {
	}
	return i
}

// endOfValue returns the index after a value of SET: that of a comma, of WHERE or FROM, or the end.
func (t Tokens) endOfValue(i, end int) int {
	for ; i < end; i++ {
		switch {
		case t.IsSign(i, "("):
			i = t.closingBracket(i)
		case t.IsSign(i, ","), t.Is(i, "where", "from", "returning"):
			return i
		}
	}
	return end
}

// rowReads returns the columns of NEW and OLD in a value. The result has "*" for a complete row. The second result
// reports whether the value reads OLD.
func (t Tokens) rowReads() (columns []string, old bool) {
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

// presentIn returns the columns of a condition of the form "a IS NOT NULL AND b IS NOT NULL". It returns nil for
// another condition. The text may be the complete definition of an index.
func presentIn(text Tokens) (columns []string) {
	for i := range text {
		if text.Is(i, "where") {
			text = text[i+1:]
			break
		}
	}
	text = slices.DeleteFunc(slices.Clone(text), func(t Token) bool {
		return t.Kind == TokenSign && (t.Text == "(" || t.Text == ")")
	})
	for i := 0; ; i += 5 {
		if i+4 > len(text) || !text.isName(i) || !text.Is(i+1, "is") || !text.Is(i+2, "not") || !text.Is(i+3, "null") {
			return nil
		}
		columns = append(columns, text[i].Text)
		if i+4 == len(text) {
			return columns
		}
		if !text.Is(i+4, "and") {
			return nil
		}
	}
}

func isSubset(columns, set []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		return !slices.ContainsFunc(set, func(other string) bool { return strings.EqualFold(name, other) })
	})
}
