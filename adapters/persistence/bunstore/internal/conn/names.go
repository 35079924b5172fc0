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

// names holds the names of schema objects in an error of the database. They are safe to log and never contain a value.
type names struct{ table, column, constraint string }

// String returns the names with their kinds, or "" if there are no names.
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

// namesIn returns the names in an error of any driver. PostgreSQL sends names in separate fields, SQLite only in its
// message. A trigger of the application can raise an error with values in the fields for names. namesIn therefore
// accepts names only from those source files of the server that put names there.
func namesIn(err error) names {
	found := names{}
	if code, text := sqliteText(err); text != "" {
		found = namesInSQLite(code, text)
	} else if field := postgresFields(err); field != nil && slices.Contains(enforcing, field('F')) {
		found = names{field('t'), field('c'), field('n')}
	}
	return names{identifier(found.table), identifier(found.column), identifier(found.constraint)}
}

// Source files of PostgreSQL that raise errors. Their names do not depend on the language of the server.
var (
	// enforcing lists the files that raise constraint errors, with the names of the objects in the fields for names.
	enforcing = []string{
		"execMain.c", "execIndexing.c", "nbtinsert.c", "ri_triggers.c", "execExprInterp.c", "domains.c", "tablecmds.c",
		"tuplesort.c", "tuplesortvariants.c",
	}
	// resolving lists the files that raise errors about missing tables, columns and privileges, with the names in the
	// message.
	resolving = []string{"parse_relation.c", "parse_target.c", "analyze.c", "namespace.c", "aclchk.c"}
)

// postgresFields returns a function that reads a field of a PostgreSQL error by its letter in the protocol. Returns nil
// for any other error. The errors of pgdriver have a method for the fields, and the errors of pgx are a struct.
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

// identifier returns a name, or "" if it cannot be an identifier or cannot be logged in a single line.
func identifier(name string) string {
	const longest = 63 // the limit of PostgreSQL, in bytes
	if len(name) > longest || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}

// Extended result codes of SQLite for constraints that it checks itself. An error that a trigger raises has another
// code, and its message can contain anything.
const (
	sqliteNotNull    = 1299
	sqlitePrimaryKey = 1555
	sqliteUnique     = 2067
	sqliteMissing    = 1 // SQLITE_ERROR: the statement cannot be prepared
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

// sqliteText returns the extended result code and the message of an SQLite error.
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

// quoted matches the names in PostgreSQL's message about a missing table, column or privilege.
var quoted = regexp.MustCompile(`["«„]([^"«»„“”]+)["»“”]|(?:column|table|schema|sequence|view) ([\w.$]+)`)

// missing returns the names of the objects or privileges that a statement of this store lacks, for the states that
// report it. It ignores errors with a context (field W), which come from a function or a trigger of the application.
// Such a statement may be built from a value, which the message then contains as a name.
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

// raiser is the name of a function at the beginning of the context of an error, in any language of the server.
var raiser = regexp.MustCompile(`^[^\n(]*?([\w.]+)\(`)

// RaisedBy names the function of the application that has raised an error, in brackets after a space. It is empty if
// the error does not say which one. The first line of the context is about the statement that raised the error.
func RaisedBy(err error) string {
	field := postgresFields(err)
	if field == nil || field('F') != "pl_exec.c" {
		return ""
	}
	match := raiser.FindStringSubmatch(field('W'))
	if match == nil || identifier(match[1]) == "" {
		return ""
	}
	return inBrackets("function " + match[1])
}
