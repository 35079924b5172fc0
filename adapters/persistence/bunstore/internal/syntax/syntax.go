// Package syntax has the parts that the statements of all packages share: quoted names and constants, placeholders, the
// names of the tables of habeas, instants, and the differences between PostgreSQL and SQLite in them. It does no I/O.
package syntax

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	bundialect "github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Quote quotes an identifier.
func Quote(name string) string { return string(bundialect.AppendName(nil, name, '"')) }

// QuoteTable quotes a table name, which may be qualified with a schema.
func QuoteTable(name string) string { return string(bundialect.AppendIdent(nil, name, '"')) }

// Literal quotes a text as a constant.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Lower converts ASCII letters to lower case, as SQLite does to compare names.
func Lower(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}

// Placeholder returns the Placeholder of the n-th parameter of a statement: $n.
func Placeholder(n int) string { return "$" + strconv.Itoa(n) }

// Join returns the texts of the elements, with a separator between them.
func Join[T any](elements []T, separator string, text func(T) string) string {
	texts := make([]string, len(elements))
	for i, element := range elements {
		texts[i] = text(element)
	}
	return strings.Join(texts, separator)
}

// Combine returns the conditions with an operator (AND or OR) between them, and in parentheses if there are several. It
// nests them in halves, because SQLite refuses expressions that are nested more than 1,000 deep, such as a OR b OR c of
// so many columns.
func Combine(conditions []string, operator string) string {
	if len(conditions) <= 1 {
		return strings.Join(conditions, "")
	}
	half := len(conditions) / 2
	return "(" + Combine(conditions[:half], operator) + " " + operator + " " + Combine(conditions[half:], operator) + ")"
}

// Fill replaces each {name} in a statement by a text. The parameter replacements is a list of pairs of a name and its
// text. Fill does not change other braces.
func Fill(statement string, replacements ...string) string {
	var filled strings.Builder
	rest := strings.TrimSpace(statement)
	for {
		before, after, found := strings.Cut(rest, "{")
		filled.WriteString(before)
		if !found {
			return filled.String()
		}
		name, behind, _ := strings.Cut(after, "}")
		text, ok := replacementOf(name, replacements)
		if !ok {
			text, behind = "{", after
		}
		filled.WriteString(text)
		rest = behind
	}
}

func replacementOf(name string, replacements []string) (text string, ok bool) {
	for i := 0; i+1 < len(replacements); i += 2 {
		if replacements[i] == name {
			return replacements[i+1], true
		}
	}
	return "", false
}

// Args collects the parameters of a statement.
type Args []any

// Next appends a parameter and returns its placeholder.
func (a *Args) Next(value any) string {
	*a = append(*a, value)
	return Placeholder(len(*a))
}

// Add appends a parameter and returns its placeholder with a cast, such as CAST($6 AS text).
func (a *Args) Add(value any, sqlType string) string {
	return "CAST(" + a.Next(value) + " AS " + sqlType + ")"
}

// JSON encodes a value that a store keeps as JSON. The parameter op is the name of the operation in the error.
func JSON(op string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", &domain.Error{Op: op, Message: "a value cannot be stored as JSON", Err: err}
	}
	return string(text), nil
}

// Optional returns nil for the zero value, and otherwise a pointer to the value.
func Optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// Nullable returns the parameter of a statement for a text that may be NULL. It copies the text, because the caller may
// change the record while the session buffers the row.
func Nullable(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// TextList encodes texts as a JSON array, so that a statement takes any number of texts as one parameter.
func TextList(texts []string) string {
	list, err := json.Marshal(texts)
	if err != nil {
		panic(err) // cannot happen: every string has a JSON form
	}
	return string(list)
}

// Text returns the text form of a value from a driver.
func Text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case time.Time:
		return value.UTC().Format(time.RFC3339Nano)
	default:
		return fmt.Sprint(value)
	}
}

// Tables holds the quoted names of the tables of habeas for one data map. Index and Function names begin with Prefix,
// too. IsErased is a function of PostgreSQL that reports whether a subject was erased. It sees the marks that were
// committed before its call, even if its statement began earlier. KeyText is a function of PostgreSQL that returns the
// text of a value.
type Tables struct {
	Prefix                                                 string
	Consents, Restrictions, Events, Outbox, Erasures       string
	Requests, Holds                                        string
	Duties, Positions, Installation, Ancestors, Migrations string
	IsErased, KeyText                                      string
}

// Fill replaces each {name} in a statement by a text. The parameter replacements is a list of pairs of a name and its
// text. In addition, Fill replaces {consents}, {outbox} and so on by the names of these tables of habeas, and {prefix}
// by Tables.Prefix.
func (t Tables) Fill(statement string, replacements ...string) string {
	return Fill(statement, append(replacements, "consents", t.Consents, "restrictions", t.Restrictions, "events", t.Events,
		"outbox", t.Outbox, "erasures", t.Erasures, "requests", t.Requests, "holds", t.Holds, "duties", t.Duties,
		"positions", t.Positions, "installation", t.Installation, "ancestors", t.Ancestors, "migrations", t.Migrations,
		"is erased", t.IsErased, "prefix", t.Prefix)...)
}

func (t Tables) areQualified() bool { return !strings.HasPrefix(t.Outbox, t.Prefix) }

// TableNames are the names of all tables of habeas, without the prefix that datamap.ObjectPrefix returns.
func TableNames() []string {
	return []string{
		"migrations", "consent_records", "restriction_records", "audit_events", "outbox", "subject_erasures", "requests",
		"holds", "duties", "positions", "installation", "ancestors",
	}
}

// OwnNames is a regular expression, also of PostgreSQL, for the names of the tables of habeas, of every data map. The
// first group is the prefix of the data map (see datamap.ObjectPrefix), and the second group is one of TableNames.
func OwnNames() string {
	return `^(habeas_(?:[a-z0-9]{1,20}_)?)(` + strings.Join(TableNames(), "|") + `)$`
}

// TablesIn returns the quoted names of the tables of habeas in a schema, for the data map with the given name. If
// schema is "", the names have no schema.
func TablesIn(schema, name string) Tables {
	prefix := datamap.ObjectPrefix(name)
	before := prefix
	if schema != "" {
		before = Quote(schema) + "." + prefix
	}
	return Tables{
		Prefix:       prefix,
		Consents:     before + "consent_records",
		Restrictions: before + "restriction_records",
		Events:       before + "audit_events",
		Outbox:       before + "outbox",
		Erasures:     before + "subject_erasures",
		Requests:     before + "requests",
		Holds:        before + "holds",
		Duties:       before + "duties",
		Positions:    before + "positions",
		Installation: before + "installation",
		Ancestors:    before + "ancestors",
		Migrations:   before + "migrations",

		IsErased: before + "is_erased",
		KeyText:  before + "key_text",
	}
}

// OwnTables returns the names of all tables of habeas for the data map with the given name, as a list of SQL constants.
func OwnTables(name string) string {
	return Join(TableNames(), ", ", func(table string) string { return Literal(datamap.ObjectPrefix(name) + table) })
}

// QualifiedName returns the quoted name of a table with its schema. The name does not depend on the search path.
func QualifiedName(table datamap.CatalogTable) string {
	return Quote(table.Schema) + "." + Quote(strings.TrimPrefix(table.Name, table.Schema+"."))
}

// instantFormat has a fixed width, so that texts sort in the order of their instants.
const instantFormat = "2006-01-02T15:04:05.000000Z"

// Instant is a point in time. It implements sql.Scanner for the values that the drivers of both databases return.
type Instant time.Time

// Scan implements sql.Scanner.
func (i *Instant) Scan(value any) error {
	switch value := value.(type) {
	case time.Time:
		*i = Instant(value.UTC())
		return nil
	case string:
		t, err := time.Parse(instantFormat, value)
		*i = Instant(t)
		return err
	default:
		return fmt.Errorf("an instant must be a time or a text, not a %T", value)
	}
}

// OptionalInstant scans a column that holds an instant, NULL or an invalid value. It implements sql.Scanner.
type OptionalInstant struct {
	Time    *time.Time // nil for NULL and for an invalid value
	Invalid bool
}

// OrZero returns the instant, or the zero time.
func (o *OptionalInstant) OrZero() time.Time {
	if o.Time == nil {
		return time.Time{}
	}
	return *o.Time
}

// Scan implements sql.Scanner.
func (o *OptionalInstant) Scan(value any) error {
	if value == nil {
		return nil
	}
	var read Instant
	if err := read.Scan(value); err != nil {
		o.Invalid = true
		return nil //nolint:nilerr // o.invalid reports the error
	}
	at := time.Time(read)
	o.Time = &at
	return nil
}

// Dialect has the differences between PostgreSQL and SQLite that concern many statements.
type Dialect interface {
	// Instant converts a point in time to a parameter for a column in the tables of habeas.
	Instant(t time.Time) any

	// InstantType returns the SQL type of the parameters that Instant returns. Statements cast a parameter to this type
	// if the database cannot infer it.
	InstantType() string

	// IsInQuery returns the condition that a text column has one of the values that a query returns.
	IsInQuery(column, query string) string

	// PreferIndex returns a condition that is always true. A planner that sees this condition uses an index for the other
	// conditions. The parameter column can be any text column of the table.
	PreferIndex(column string) string

	// ArrayElements returns the query that selects the texts of a parameter, which is a JSON array.
	ArrayElements(parameter string) string

	// ForUpdate returns the clause at the end of a SELECT that locks the selected rows.
	ForUpdate() string

	// CombinesChanges reports whether an INSERT, UPDATE or DELETE can be a common table expression. One statement can
	// then contain several of them.
	CombinesChanges() bool

	// SameName reports whether the database treats a and b as the name of the same column.
	SameName(a, b string) bool
}

// The dialects.
var (
	Postgres Dialect = postgres{}
	SQLite   Dialect = sqlite{}
)

// Choose returns the first value for PostgreSQL, and the second one for SQLite.
func Choose[T any](d Dialect, forPostgres, forSQLite T) T {
	if d == Postgres {
		return forPostgres
	}
	return forSQLite
}

type postgres struct{}

// IsInQuery returns the condition that a column has one of the values that a query returns. PostgreSQL looks up each of
// these values separately in an index.
func (p postgres) IsInQuery(column, query string) string {
	return column + " = ANY (ARRAY(" + query + ")) AND " + p.PreferIndex(column)
}

// PreferIndex returns a condition that is always true and costs almost nothing to evaluate. Planners estimate a high
// cost for it, and therefore look up rows in an index instead of reading the complete table. Without the condition,
// planners would read the complete table while it is small, and would keep that plan after the table has grown.
// Planners also estimate that the condition is true for half of the rows, and therefore join these rows with a hash
// join.
func (postgres) PreferIndex(column string) string {
	return Fill(`
		CASE WHEN octet_length({column}) < 0
			THEN (SELECT count(*) FROM generate_series(1, octet_length({column}))) = 0
			ELSE TRUE END`, "column", column)
}

func (postgres) ArrayElements(parameter string) string {
	return "SELECT jsonb_array_elements_text(CAST(" + parameter + " AS jsonb))"
}

// Instant truncates t to the precision of the database, because some drivers would otherwise round t.
func (postgres) Instant(t time.Time) any { return domain.Instant(t) }
func (postgres) InstantType() string     { return "timestamptz" }
func (postgres) ForUpdate() string       { return " FOR UPDATE" }
func (postgres) CombinesChanges() bool   { return true }

func (postgres) SameName(a, b string) bool {
	return datamap.CutName(a, NameBytes) == datamap.CutName(b, NameBytes)
}

// NameBytes is the maximum length of a name in bytes. PostgreSQL cuts longer names in statements.
const NameBytes = 63

// OidClass is the first key of an advisory lock. It is derived from the oid of a table, so that the tables of different
// schemas and data maps have different locks. The table of marks has the lock of intakeParts.
const OidClass = `CAST(` + Oid + ` & 2147483647 AS integer)`

// Oid is the oid of a table as a bigint.
const Oid = `CAST(CAST(CAST({table} AS regclass) AS oid) AS bigint)`

// HolderWrites is the condition that a session of a role that may insert into the table {marks} holds the lock l in
// this database. Any role may take any advisory lock. A session may change its role with SET ROLE to any role of which
// the role of its login is a member. The condition holds if the session is unknown, for example because it has just
// ended.
const HolderWrites = `l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
				AND COALESCE((
					SELECT bool_or(has_any_column_privilege(r.oid, CAST(CAST({marks} AS regclass) AS oid), 'INSERT'))
					FROM pg_catalog.pg_stat_activity AS a JOIN pg_catalog.pg_roles AS r ON pg_has_role(a.usesysid, r.oid, 'MEMBER')
					WHERE a.pid = l.pid), TRUE)`

type sqlite struct{}

// IsInQuery returns the condition that a column has one of the values that a query returns. It uses IN, because SQLite
// then looks up each of these values separately in an index.
func (sqlite) IsInQuery(column, query string) string { return column + " IN (" + query + ")" }

// PreferIndex returns TRUE (no further condition), because SQLite always prefers an index.
func (sqlite) PreferIndex(string) string { return "TRUE" }

func (sqlite) ArrayElements(parameter string) string {
	return "SELECT value FROM json_each(" + parameter + ")"
}

func (sqlite) Instant(t time.Time) any { return t.UTC().Format(instantFormat) }
func (sqlite) InstantType() string     { return "text" }

// ForUpdate returns "", because SQLite has only one writing transaction at a time.
func (sqlite) ForUpdate() string         { return "" }
func (sqlite) CombinesChanges() bool     { return false }
func (sqlite) SameName(a, b string) bool { return Lower(a) == Lower(b) }
