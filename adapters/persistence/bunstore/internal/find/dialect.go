package find

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
)

// dialect has the differences between PostgreSQL and SQLite in a search.
type dialect interface {
	// fromItem returns the table as it appears in the FROM clause of a search. A search of all tables then reads each row
	// only once, even if a table inherits from another table.
	fromItem(table datamap.CatalogTable) string

	isSearched(column datamap.CatalogColumn) bool

	// untrusted returns a statement that lists the positions of those places in which a search could run code of a role
	// that the connection does not trust. Returns "" if the database has no roles.
	untrusted(places []searchedTable) string

	// protect returns a statement for the begin of the read-only transaction of each search, or "".
	protect() string

	// firstRow returns a statement that reads one row. It fails if the table is on a server that does not answer. Returns
	// "" if the database has no tables on other servers.
	firstRow(fromItem string) string

	// foreignPartitions returns a statement that lists, in the form of fromItem, the partitions of a table that are on
	// other servers. Returns "" if the database has no such partitions.
	foreignPartitions(table datamap.CatalogTable) string

	// searchPatterns returns the patterns for a value: the parameters of the statement of counts for this value. Their
	// number is the same for all values.
	searchPatterns(value string) []any

	// counts returns the statement that counts the rows of a table that contain a value. The statement returns one row,
	// with a count for each pair of a column and a value.
	counts(table searchedTable, values int) string
}

type postgres struct{}

// fromItem uses ONLY to exclude the rows of inheriting tables, because a search reads each inheriting table separately.
func (postgres) fromItem(table datamap.CatalogTable) string {
	if table.Kind == datamap.KindTable {
		return "ONLY " + syntax.QualifiedName(table)
	}
	return syntax.QualifiedName(table)
}

// isSearched returns false for times, truth values and enumerations.
func (postgres) isSearched(column datamap.CatalogColumn) bool {
	declared := strings.TrimSuffix(column.Declared, "[]")
	t, _ := sqltype.Parse(declared)
	first, _, _ := strings.Cut(strings.ReplaceAll(declared, "(", " "), " ")
	return column.Values == nil && t != datamap.TypeBoolean && t != datamap.TypeTime && first != "interval" &&
		first != "time"
}

func (postgres) searchPatterns(value string) []any { return []any{search.Pattern(value)} }

// firstRow returns a statement that contacts the server of a foreign table.
func (postgres) firstRow(fromItem string) string { return "SELECT 1 FROM " + fromItem + " LIMIT 1" }

// foreignPartitions returns a statement that lists the quoted names of the foreign tables among the partitions.
func (postgres) foreignPartitions(table datamap.CatalogTable) string {
	return syntax.Fill(`
		SELECT pg_catalog.format('%I.%I', n.nspname, c.relname)
		FROM pg_catalog.pg_partition_tree(CAST({name} AS pg_catalog.regclass)) AS p
		JOIN pg_catalog.pg_class AS c ON c.oid = p.relid
		JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind = 'f' ORDER BY 1`, "name", syntax.Literal(syntax.QualifiedName(table)))
}

// counts returns a statement that compares texts with collation C, character by character. It reads binary data in the
// format escape, which keeps the characters of ASCII. The function concat calls the output function of a type, which
// only a superuser can define. The owner of a type can define a cast to text.
func (postgres) counts(table searchedTable, values int) string {
	conditions := []string{"t.text{n} OPERATOR(pg_catalog.~) CAST({pattern} AS pg_catalog.text)"}
	return countsBy(table, values, "pg_catalog.count(*)", "OFFSET 0", conditions,
		func(column datamap.CatalogColumn) string {
			if column.Declared == "bytea" { // and no type of this name in another schema
				return `pg_catalog.encode({column}, 'escape') COLLATE pg_catalog."C" AS text{n}`
			}
			return `pg_catalog.concat({column}) COLLATE pg_catalog."C" AS text{n}`
		})
}

// protect makes PostgreSQL fail a statement instead of calling the functions of policies.
func (postgres) protect() string { return "SET LOCAL row_security = off" }

func (postgres) untrusted(places []searchedTable) string {
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = "(" + strconv.Itoa(i) + ", " + syntax.Literal(strings.TrimPrefix(place.fromItem, "ONLY ")) + ")"
	}
	return syntax.FillWithStrangers(untrusted, "places", strings.Join(names, ", "))
}

// untrusted lists the places that depend on a role that the connection does not trust. A place depends on the owners of
// the table and its partitions, of their foreign servers, and of the functions and operators in their indexes,
// statistics and partition keys, because the planner evaluates constant parts of these.
const untrusted = `
	SELECT DISTINCT p.number FROM (VALUES {places}) AS p (number, name)
	CROSS JOIN LATERAL (
		SELECT CAST(pg_catalog.to_regclass(p.name) AS pg_catalog.oid)
		UNION
		SELECT CAST(b.relid AS pg_catalog.oid)
		FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass(p.name)) AS b
	) AS t (oid)
	CROSS JOIN LATERAL (
		SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid {=} t.oid
		UNION ALL
		SELECT s.srvowner FROM pg_catalog.pg_foreign_table AS f
		JOIN pg_catalog.pg_foreign_server AS s ON s.oid {=} f.ftserver WHERE f.ftrelid {=} t.oid
		UNION ALL
		SELECT COALESCE(f.proowner, o.oprowner) FROM (
			SELECT 'pg_catalog.pg_class', t.oid
			UNION ALL
			SELECT 'pg_catalog.pg_class', i.indexrelid FROM pg_catalog.pg_index AS i WHERE i.indrelid {=} t.oid
			UNION ALL
			SELECT 'pg_catalog.pg_statistic_ext', x.oid FROM pg_catalog.pg_statistic_ext AS x WHERE x.stxrelid {=} t.oid
		) AS e (class, oid)
		JOIN pg_catalog.pg_depend AS d
			ON d.classid {=} CAST(pg_catalog.to_regclass(e.class) AS pg_catalog.oid) AND d.objid {=} e.oid
		LEFT JOIN pg_catalog.pg_proc AS f ON f.oid {=} d.refobjid
			AND d.refclassid {=} {oid of pg_proc}
		LEFT JOIN pg_catalog.pg_operator AS o ON o.oid {=} d.refobjid
			AND d.refclassid {=} {oid of pg_operator}
	) AS owner (oid)
	JOIN stranger ON stranger.oid {=} owner.oid`

type sqlite struct{}

func (sqlite) fromItem(table datamap.CatalogTable) string { return syntax.QualifiedName(table) }

// isSearched returns true, because a column of any declared type can hold a text in SQLite.
func (sqlite) isSearched(datamap.CatalogColumn) bool         { return true }
func (sqlite) untrusted([]searchedTable) string              { return "" }
func (sqlite) protect() string                               { return "" }
func (sqlite) firstRow(string) string                        { return "" }
func (sqlite) foreignPartitions(datamap.CatalogTable) string { return "" }

// searchPatterns returns patterns for the operator GLOB: of the value itself, with quotes and backslashes as in JSON,
// with quotes that are doubled, in base64, in hexadecimal digits, and again in hexadecimal digits for the bytes of a
// cell. Patterns of encoded copies are NULL for a short value, see search.MinEncodedLength.
func (sqlite) searchPatterns(value string) []any {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value)
	hexadecimal := "*" + search.HexForm(value).Pattern() + "*"
	patterns := []any{globPattern(value), globPattern(escaped), globPattern(strings.ReplaceAll(value, `"`, `""`))}
	for i := range 2 { // the second and third are mostly the same as the first
		if patterns[i+1] == patterns[0] {
			patterns[i+1] = nil
		}
	}
	for _, form := range search.Base64Forms(value) {
		patterns = append(patterns, "*"+form.Pattern()+"*")
	}
	patterns = append(patterns, hexadecimal, hexadecimal)
	if len(value) < search.MinEncodedLength {
		copy(patterns[3:], make([]any, 4))
	}
	return patterns
}

// globPattern returns a pattern for the operator GLOB that matches a text with the value. GLOB has no escape character,
// but a special character in brackets matches only itself.
func globPattern(value string) string {
	var pattern strings.Builder
	for _, r := range value {
		switch folded := search.Foldings(r); {
		case len(folded) > 1 || strings.ContainsRune("*?[", r):
			pattern.WriteString("[" + string(folded) + "]")
		default:
			pattern.WriteRune(r)
		}
	}
	return "*" + pattern.String() + "*"
}

// sqliteText is the expression for the text of a cell, also of a number, and for the hexadecimal digits of its bytes.
// If the cell contains JSON with escapes, its decoded names and values come first, each with a record separator after
// it, and the cell itself comes last. The cell comes last because GLOB stops at a NUL character: a NUL character in the
// cell could otherwise hide the decoded texts. The digits are read only if the cell is binary or contains a NUL
// character.
const (
	sqliteText = `
		CASE typeof({column}) WHEN 'text' THEN
			CASE WHEN instr({column}, '\') > 0 AND json_valid({column}) THEN {decoded} || {column} ELSE {column} END
		WHEN 'blob' THEN
			CASE WHEN json_valid({column}, 8) THEN {decoded} ELSE '' END || {texts of blob}
			ELSE CAST({column} AS text) END AS text{n},
		CASE WHEN typeof({column}) = 'blob' THEN hex({column})
			WHEN typeof({column}) = 'text' AND instr({column}, char(0)) > 0 THEN hex({bytes}) END AS bytes{n}`

	sqliteDecoded = `(SELECT group_concat(COALESCE(j.key, '') || char(30) || COALESCE(j.atom, '') || char(30), '')
		FROM json_tree({column}) AS j)`
)

// counts returns a statement that decodes JSONB, and JSON with escapes. It reads other binary data as text in UTF-8.
func (s sqlite) counts(table searchedTable, values int) string {
	conditions := slices.Repeat([]string{"t.text{n} GLOB {pattern}"}, len(s.searchPatterns(""))-1)
	conditions = append(conditions, "t.bytes{n} GLOB {pattern}")
	text := syntax.Fill(sqliteText, "decoded", sqliteDecoded, "texts of blob", syntax.BlobTexts("{column}"),
		"bytes", syntax.WithHeader("{column}"))
	return countsBy(table, values, "count(*)", "LIMIT -1", conditions, func(datamap.CatalogColumn) string { return text })
}

// searchedTable is a table in which a statement searches for values.
type searchedTable struct {
	name     string   // the name of the table in a data map
	fromItem string   // the table in the FROM clause, see dialect.fromItem
	foreign  []string // the same for the table or its partitions, if they are on another server
	columns  []datamap.CatalogColumn
}

// countsBy returns the statement of dialect.counts. The result starts with the counts of all values in the first
// searched column, followed by the counts of all values in the second searched column, and so on. The subquery converts
// each cell to text only once. The fence at its end (OFFSET 0 or LIMIT -1) prevents the planner from moving the
// conversion into the conditions.
//
// A row is counted if one of the conditions is true. Each value has one parameter for each condition. In the conditions
// and in the result of textOf, {n} is the number of the column.
func countsBy(
	table searchedTable, values int, count, fence string, conditions []string,
	textOf func(column datamap.CatalogColumn) string,
) string {
	var texts, all []string
	for i, column := range table.columns {
		number := strconv.Itoa(i)
		texts = append(texts, syntax.Fill(textOf(column), "n", number, "column", syntax.Quote(column.Name)))
		for j := range values {
			either := make([]string, len(conditions))
			for k, condition := range conditions {
				either[k] = syntax.Fill(condition, "n", number, "pattern", syntax.Placeholder(j*len(conditions)+k+1))
			}
			all = append(all, count+" FILTER (WHERE "+strings.Join(either, " OR ")+")")
		}
	}
	return syntax.Fill("SELECT {counts} FROM (SELECT {texts} FROM {table} {fence}) AS t",
		"counts", strings.Join(all, ", "), "texts", strings.Join(texts, ", "), "table", table.fromItem, "fence", fence)
}
