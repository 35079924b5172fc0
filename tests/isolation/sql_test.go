package isolation

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// script returns the statements that create the tables with their foreign keys.
func (s *schema) script() string {
	var script strings.Builder
	for _, t := range s.tables {
		var lines []string
		for _, c := range t.columns {
			line := quote(c.Name) + " " + c.kind.declared
			if !c.nullable {
				line += " NOT NULL"
			}
			if c.unique {
				line += " UNIQUE"
			}
			lines = append(lines, line)
		}
		lines = append(lines, "PRIMARY KEY "+tuple(t.primaryKey))
		for _, key := range t.uniques {
			lines = append(lines, "UNIQUE "+tuple(key))
		}
		for _, l := range t.links {
			line := "FOREIGN KEY " + tuple(l.Columns) + " REFERENCES " + quote(l.to.name) + " " + tuple(l.ReferencedColumns)
			if l.targets == setsNull {
				line += " ON DELETE SET NULL"
			}
			lines = append(lines, line)
		}
		fmt.Fprintf(&script, "CREATE TABLE %s (\n\t%s\n);\n", quote(t.name), strings.Join(lines, ",\n\t"))
	}
	return script.String()
}

func tuple(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return "(" + strings.Join(quoted, ", ") + ")"
}

// insert inserts all rows, parents before children.
func (w *world) insert() {
	for _, table := range w.tables {
		if len(table.rows) == 0 {
			continue
		}
		var rows []string
		var arguments []any
		for _, r := range table.rows {
			var parameters []string
			for _, c := range table.columns {
				arguments = append(arguments, argument(c.kind, r.cells[c.Name]))
				parameters = append(parameters, fmt.Sprint("$", len(arguments)))
			}
			rows = append(rows, "("+strings.Join(parameters, ", ")+")")
		}
		names := make([]string, len(table.columns))
		for i, c := range table.columns {
			names[i] = c.Name
		}
		_, err := w.db.DB.ExecContext(w.Context(),
			"INSERT INTO "+quote(table.name)+" "+tuple(names)+" VALUES "+strings.Join(rows, ", "), arguments...)
		must(w.T, err)
	}
}

// argument returns the value in the form in which an application passes it to the driver.
func argument(k kind, value any) any {
	switch value := value.(type) {
	case time.Time:
		if k.declared == "DATE" {
			return value.Format(time.DateOnly)
		}
		return value.Format("2006-01-02 15:04:05.999999-07:00")
	case list:
		return value.literal
	default:
		return value
	}
}

// dump has every cell of the database as text. The inner map has one element for each row, with the text of the primary
// key as its key.
type dump map[*table]map[string]line

// line has the cells of one row, by the names of their columns.
type line map[string]sql.NullString

func (w *world) dump() dump {
	d := dump{}
	for _, table := range w.tables {
		d[table] = w.dumpTable(table)
	}
	return d
}

func (w *world) dumpTable(table *table) map[string]line {
	var selected []string
	for _, name := range table.primaryKey {
		selected = append(selected, "CAST("+quote(name)+" AS text)")
	}
	for _, c := range table.columns {
		selected = append(selected, w.shown(quote(c.Name)))
	}
	rows, err := w.db.DB.QueryContext(w.Context(), "SELECT "+strings.Join(selected, ", ")+" FROM "+quote(table.name))
	must(w.T, err)
	defer rows.Close()
	cells := make([]sql.NullString, len(selected))
	targets := make([]any, len(cells))
	for i := range cells {
		targets[i] = &cells[i]
	}
	lines := map[string]line{}
	for rows.Next() {
		must(w.T, rows.Scan(targets...))
		key := make([]string, len(table.primaryKey))
		for i := range key {
			key[i] = cells[i].String
		}
		shown := line{}
		for i, c := range table.columns {
			shown[c.Name] = cells[len(key)+i]
		}
		lines[fmt.Sprintf("%q", key)] = shown
	}
	must(w.T, rows.Err())
	return lines
}

// key returns the text with which a dump identifies the row.
func (t *table) key(r *row) string { return fmt.Sprintf("%q", t.keyTexts(r)) }

func (t *table) keyTexts(r *row) (texts []string) {
	for _, name := range t.primaryKey {
		texts = append(texts, fmt.Sprint(r.cells[name]))
	}
	return texts
}

// setsNull reports whether the column is part of a foreign key with ON DELETE SET NULL.
func (t *table) setsNull(column string) bool {
	return slices.ContainsFunc(t.links, func(l *link) bool {
		return l.targets == setsNull && slices.Contains(l.Columns, column)
	})
}
