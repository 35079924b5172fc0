package rows

import "github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"

// keyName returns the text of the value. A text that would have the name of another value is in quotes. OFFSET makes
// the database compute the text only once.
func (p postgres) keyName(column, sqlType, keyText string) string {
	if p.isInteger(sqlType) {
		return "COALESCE(" + AsText(column) + ", 'NULL')"
	}
	return syntax.Fill(`
		CASE WHEN {column} IS NULL THEN 'NULL'
			WHEN pg_typeof({column}) = ANY (CAST('{smallint,integer,bigint,numeric,boolean,uuid}' AS regtype[]))
				THEN CAST({column} AS text)
			ELSE (SELECT CASE WHEN k = 'NULL' OR left(k, 1) IN ('''', '"') THEN concat('''', k, '''') ELSE k END
				FROM (SELECT {text} AS k OFFSET 0) AS named) END`, "column", column, "text", p.keyExpression(column, keyText))
}

// keyExpression calls the function only for types whose text depends on the settings of the session, or may do so. A
// call costs as much as reading several rows.
func (postgres) keyExpression(column, keyText string) string {
	return syntax.Fill(`
		CASE WHEN pg_typeof({column}) = ANY (CAST('{plain types}' AS regtype[])) THEN CAST({column} AS text)
			ELSE {key text}({column}) END`, "column", column, "key text", keyText, "plain types",
		"{smallint,integer,bigint,numeric,boolean,uuid,text,character varying,character}")
}

// keyValue returns a text, because some drivers return the bytes of a text.
func (postgres) keyValue(value any) any { return syntax.Text(value) }

// equalsKey compares the name of the value if the type of the column is not known.
func (p postgres) equalsKey(column, parameter, sqlType, keyText string) string {
	if sqlType == "" {
		return p.equalsExactly(p.keyExpression(column, keyText), parameter)
	}
	return column + " = CAST(CAST(" + parameter + " AS text) AS " + sqlType + ")"
}

// keyName returns the number or the text itself, and the bytes of a blob as hexadecimal digits. A text that would have
// the name of another value is in quotes. These are texts such as 'NULL', and the text of a number in a column that may
// also hold this number. A column that cannot hold it converts the number to the text, and therefore equals it.
func (sqlite) keyName(column, _, _ string) string {
	return syntax.Fill(`
		CASE typeof({column})
			WHEN 'null' THEN 'NULL'
			WHEN 'blob' THEN '\x' || lower(hex({column}))
			WHEN 'text' THEN CASE
				WHEN {column} = 'NULL' OR {column} GLOB '\x*' OR {column} GLOB '[''"]*'
					OR quote(CAST({column} AS numeric)) = {column} AND NOT {column} = +CAST({column} AS numeric)
				THEN quote({column}) ELSE {column} END
			ELSE quote({column}) END`, "column", column)
}

// keyExpression returns the column with a unary plus, so that drivers do not convert the value by the type of the
// column.
func (sqlite) keyExpression(column, _ string) string { return "+" + column }

// keyValue returns empty bytes for an empty blob, because drivers return nil bytes, and write them as NULL.
func (sqlite) keyValue(value any) any {
	if content, ok := value.([]byte); ok && len(content) == 0 {
		return []byte{}
	}
	return value
}

func (sqlite) equalsKey(column, parameter, _, _ string) string { return column + " IS " + parameter }
