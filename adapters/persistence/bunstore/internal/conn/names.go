package conn

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
// message. SQLite has them in its message alone. A trigger of the application can raise an error in which the fields
// for names hold values: names are taken only from those parts of the server that put names there.
func namesIn(err error) names {
	found := names{}
	if code, text := sqliteText(err); text != "" {
		found = namesInSQLite(code, text)
	} else if field := postgresFields(err); field != nil && slices.Contains(enforcing, field('F')) {
		found = names{field('t'), field('c'), field('n')}
	}
	return names{identifier(found.table), identifier(found.column), identifier(found.constraint)}
}

// The source files of PostgreSQL in which it raises errors. The server sends them whatever its language is.
var (
	// enforcing raise errors of constraints, with the names of the objects in the fields for names.
	enforcing = []string{
		"execMain.c", "execIndexing.c", "nbtinsert.c", "ri_triggers.c", "execExprInterp.c", "domains.c", "tablecmds.c",
		"tuplesort.c", "tuplesortvariants.c",
	}
	// resolving raise errors about tables, columns and privileges that are missing, with the names in the message.
	resolving = []string{"parse_relation.c", "parse_target.c", "analyze.c", "namespace.c", "aclchk.c"}
)

// postgresFields returns the fields of an error of PostgreSQL by the letters of the protocol; nil for any other error.
// pgdriver has a method for them, and pgx a struct.
func postgresFields(err error) func(letter byte) string {
	var pgdriver interface{ Field(field byte) string }
	if errors.As(err, &pgdriver) {
		return pgdriver.Field
	}
	var found reflect.Value
	if !walk(err, func(err error) bool {
		found = reflect.Indirect(reflect.ValueOf(err))
		return found.Kind() == reflect.Struct && found.Type().Name() == "PgError"
	}) {
		return nil
	}
	return func(letter byte) string {
		field := found.FieldByName(map[byte]string{
			'M': "Message", 'W': "Where", 'F': "File", 't': "TableName", 'c': "ColumnName", 'n': "ConstraintName",
		}[letter])
		if !field.IsValid() || field.Kind() != reflect.String {
			return ""
		}
		return field.String()
	}
}

// identifier is a name as it is, or nothing if it is none that could be logged in one line.
func identifier(name string) string {
	const longest = 63 // in PostgreSQL, in bytes
	if len(name) > longest || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
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

// quoted are the names in the message of PostgreSQL about a table, a column or a privilege that is missing.
var quoted = regexp.MustCompile(`["«„]([^"«»„“”]+)["»“”]|(?:column|table|schema|sequence|view) ([\w.$]+)`)

// missing are the names of what a statement of this store needs and does not have, for the states that say so. A
// statement inside a function or a trigger of the application has a context (the field W): it may have been made from a
// value, which the message then quotes as a name.
func missing(err error) string {
	if found := namesIn(err).String(); found != "" {
		return found
	}
	field := postgresFields(err)
	if field == nil || field('W') != "" || !slices.Contains(resolving, field('F')) {
		return ""
	}
	var found []string
	for _, match := range quoted.FindAllStringSubmatch(field('M'), -1) {
		if name := identifier(match[1] + match[2]); name != "" {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}
