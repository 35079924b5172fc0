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

// names holds the names of schema objects that an error of the database contains. Names never contain a value of a row,
// so they are safe to log.
type names struct{ table, column, constraint string }

// String returns the names with their kinds, such as "table users, column email", or "" if there are no names.
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
// message. A trigger of the application can raise an error with personal data in these fields. namesIn therefore reads
// the fields only if the error comes from a source file of the server that puts names there.
func namesIn(err error) names {
	found, longest := names{}, postgresName
	if code, text := sqliteText(err); text != "" {
		found, longest = namesInSQLite(code, text), sqliteNames
	} else if field := postgresFields(err); field != nil && slices.Contains(constraintFiles, field('F')) {
		found = names{field('t'), field('c'), field('n')}
	}
	return names{
		identifier(found.table, longest), identifier(found.column, longest), identifier(found.constraint, longest),
	}
}

// Source files of PostgreSQL that raise errors. An error has the name of its source file in a field. The file names are
// the same in every language of the server.
var (
	// constraintFiles lists the source files of PostgreSQL that check constraints. Errors from these files have the names
	// of the table, the column and the constraint in separate fields.
	constraintFiles = []string{
		"execMain.c", "execIndexing.c", "nbtinsert.c", "ri_triggers.c", "execExprInterp.c", "domains.c", "tablecmds.c",
		"tuplesort.c", "tuplesortvariants.c",
	}
	// lookupFiles lists the source files of PostgreSQL that look up tables, columns and privileges. Errors from these
	// files have the names only in the message.
	lookupFiles = []string{"parse_relation.c", "parse_target.c", "analyze.c", "namespace.c", "aclchk.c"}
)

// postgresFields returns a function that reads a field of a PostgreSQL error by the letter of the field in the
// protocol. It returns nil if err is not a PostgreSQL error. The errors of pgdriver have a method that reads fields,
// and the errors of pgx are a struct.
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

// The maximum lengths of names in errors, in bytes. PostgreSQL cuts longer names. SQLite has no limit, and lists all
// columns of a constraint.
const (
	postgresName = 63
	sqliteNames  = 1000
)

// identifier returns the name, or "" if it cannot be an identifier or has characters that are not printable.
func identifier(name string, longest int) string {
	if len(name) > longest || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}

// Result codes of SQLite for errors that SQLite itself raises, with names in the message. An error that a trigger
// raises has another code, and its message can contain personal data.
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

// sqliteText returns the extended result code and the message of an SQLite error. For another error, it returns 0 and
// "".
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

// quotedName matches the names in PostgreSQL's message about a missing table, column or privilege.
var quotedName = regexp.MustCompile(`["«„]([^"«»„“”]+)["»“”]|(?:column|table|schema|sequence|view) ([\w.$]+)`)

// missingNames returns the names from the error of a refused statement: the tables and columns that do not exist, or on
// which the role lacks a privilege. It ignores errors with the protocol field W (CONTEXT), which come from a database
// function or a trigger of the application. Such code may build statements from personal data, which the message would
// contain as a name.
func missingNames(err error) string {
	if found := namesIn(err).String(); found != "" {
		return found
	}
	field := postgresFields(err)
	if field == nil || field('W') != "" || !slices.Contains(lookupFiles, field('F')) {
		return ""
	}
	var found []string
	for _, match := range quotedName.FindAllStringSubmatch(field('M'), -1) {
		if name := identifier(match[1]+match[2], postgresName); name != "" {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}

// raisingFunction matches the name of a database function at the beginning of the protocol field W (CONTEXT) of a
// PostgreSQL error. It works in every language of the server.
var raisingFunction = regexp.MustCompile(`^[^\n(]*?([\w.]+)\(`)

// raisedBy returns the name of the database function that has raised a PostgreSQL error, in the form " (function
// name)". It returns "" if the error does not contain this name. raisedBy reads the name from the first line of the
// CONTEXT field of the error. This line describes the statement that raised the error.
func raisedBy(err error) string {
	field := postgresFields(err)
	if field == nil || field('F') != "pl_exec.c" {
		return ""
	}
	match := raisingFunction.FindStringSubmatch(field('W'))
	if match == nil || identifier(match[1], 2*postgresName+1) == "" {
		return ""
	}
	return inBrackets("function " + match[1])
}
