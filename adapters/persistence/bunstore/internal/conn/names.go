package conn

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
)

// names are what an error of the database says of the schema: names, which are safe to log, and never a value.
type names struct{ table, column, constraint string }

// String is empty if there are no names.
func (n names) String() string {
	var parts []string
	for _, part := range []struct{ kind, name string }{
		{"table", n.table}, {"column", n.column}, {"constraint", n.constraint},
	} {
		if part.name != "" {
			parts = append(parts, part.kind+" "+part.name)
		}
	}
	return strings.Join(parts, ", ")
}

// namesIn finds the names in an error of the database, whichever driver made it. PostgreSQL sends them apart from its
// message, for pgx in fields of a struct. SQLite has them in its message alone.
func namesIn(err error) names {
	found := names{}
	var pgdriver interface{ Field(field byte) string }
	switch code, text := sqliteText(err); {
	case text != "":
		found = namesInSQLite(code, text)
	case errors.As(err, &pgdriver):
		found = names{pgdriver.Field('t'), pgdriver.Field('c'), pgdriver.Field('n')}
	default:
		walk(err, func(err error) bool {
			value := reflect.Indirect(reflect.ValueOf(err))
			if value.Kind() != reflect.Struct || value.Type().Name() != "PgError" {
				return false
			}
			field := func(name string) string {
				if field := value.FieldByName(name); field.IsValid() && field.Kind() == reflect.String {
					return field.String()
				}
				return ""
			}
			found = names{field("TableName"), field("ColumnName"), field("ConstraintName")}
			return true
		})
	}
	return names{identifier(found.table), identifier(found.column), identifier(found.constraint)}
}

// identifier is a name as it is, or nothing if it is longer than PostgreSQL's can be: a trigger can raise an error with
// names of its own making.
func identifier(name string) string {
	if len(name) > 63 || strings.ContainsAny(name, "\r\n") {
		return ""
	}
	return name
}

// The extended result codes of SQLite for constraints that it checks itself. A trigger's own error has another one, and
// a message that can hold anything.
const (
	sqliteNotNull    = 1299
	sqlitePrimaryKey = 1555
	sqliteUnique     = 2067
	sqliteMissing    = 1 // SQLITE_ERROR, of a statement that could not be prepared
)

var (
	sqliteConstraint = regexp.MustCompile(`constraint failed: ([^\s.,]+)\.([^\s.,]+(?:, [^\s.,]+\.[^\s.,]+)*)`)
	sqliteNoTable    = regexp.MustCompile(`no such table: (\S+)`)
	sqliteNoColumn   = regexp.MustCompile(`(?:no such column: |has no column named )(\S+)`)
)

func namesInSQLite(code int, text string) names {
	switch code {
	case sqliteNotNull, sqlitePrimaryKey, sqliteUnique:
		if match := sqliteConstraint.FindStringSubmatch(text); match != nil {
			return names{table: match[1], column: strings.ReplaceAll(match[2], match[1]+".", "")}
		}
	case sqliteMissing:
		if match := sqliteNoTable.FindStringSubmatch(text); match != nil {
			return names{table: match[1]}
		}
		if match := sqliteNoColumn.FindStringSubmatch(text); match != nil {
			return names{column: match[1]}
		}
	}
	return names{}
}

// sqliteText finds the extended result code and the message of an SQLite error.
func sqliteText(err error) (code int, text string) {
	walk(err, func(err error) bool {
		value := reflect.ValueOf(err)
		if codeOfType(value) == 0 {
			return false
		}
		code, text = extendedCode(value), err.Error()
		return true
	})
	return code, text
}

// quoted are the names in the message of PostgreSQL about a table, a column or a privilege that is missing. Such a
// message holds no values.
var quoted = regexp.MustCompile(`["«„]([^"«»„“”]+)["»“”]|(?:column|table|schema|sequence|view) ([\w.$]+)`)

// missing are the names of what a statement needs and does not have, for the states that say so.
func missing(err error) string {
	if found := namesIn(err).String(); found != "" {
		return found
	}
	text := ""
	walk(err, func(err error) bool {
		var pgdriver interface{ Field(field byte) string }
		value := reflect.Indirect(reflect.ValueOf(err))
		switch {
		case errors.As(err, &pgdriver):
			text = pgdriver.Field('M')
		case value.Kind() == reflect.Struct && value.Type().Name() == "PgError":
			text = value.FieldByName("Message").String()
		default:
			return false
		}
		return true
	})
	var found []string
	for _, match := range quoted.FindAllStringSubmatch(text, -1) {
		if name := identifier(match[1] + match[2]); name != "" {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}
