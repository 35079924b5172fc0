package triggers

import (
	"slices"

	"github.com/habeas-data/habeas/internal/sqltext"
)

// Insert is a value that a trigger writes into a row of another table, and that contains columns of its own row.
type Insert struct {
	Table string   // by its name in the code
	Reads []string // the columns of the own row that the value contains; "*" means the complete row
}

// inserts returns the values of INSERT INTO table VALUES (NEW.column), and of such a statement with SELECT. It leaves
// out values that contain only a property of a column, such as its length or its hash. The second result has the tables
// whose rows the code updates: UPDATE table, and INSERT INTO table ... ON CONFLICT DO UPDATE.
func inserts(t sqltext.Tokens) (all []Insert, updated []string) {
	for i := range t {
		name, statement := t.NameAt(i+1), t[:t.EndOfStatement(i)]
		switch at := statement.AfterName(i + 1); {
		case t.Is(i, "update") && t.Is(i+1, "only"):
			updated = append(updated, t.NameAt(i+2))
		case t.Is(i, "update"):
			updated = append(updated, name)
		case !t.Is(i, "into") || !t.Is(i-1, "insert"):
		case statement[at:].Has("conflict") && statement[at:].Has("update"):
			updated = append(updated, name)
		default:
			begin := len(statement[at:].Until(0, "values", "select")) // after the columns
			for _, value := range valuesOf(statement[at+begin:]) {
				if reads := contained(value); len(reads) > 0 {
					all = append(all, Insert{name, reads})
				}
			}
		}
	}
	return all, updated
}

// keeps returns the values of UPDATE table SET column = OLD.column. They are the values before an erasure.
func keeps(t sqltext.Tokens) (all []Insert) {
	for i := range t {
		table, sets := updateAt(t, i)
		for _, set := range sets {
			if _, old := rowReads(set); !old {
				continue
			}
			if reads := contained(assigned(set)); len(reads) > 0 {
				all = append(all, Insert{table, reads})
			}
		}
	}
	return all
}

// updateAt returns the table and the assignments of the UPDATE that begins at i, or nothing if none does.
func updateAt(t sqltext.Tokens, i int) (table string, sets []sqltext.Tokens) {
	if !t.Is(i, "update") || !beginsStatement(t, i) {
		return "", nil
	}
	at := i + 1
	if t.Is(at, "only") {
		at++
	}
	statement := t[:t.EndOfStatement(i)]
	before := len(statement[at:].Until(0, "set"))
	return t.NameAt(at), listIn(statement[min(at+before+1, len(statement)):].Until(0, "from", "where", "returning"))
}

// valuesOf returns the values of an INSERT. The tokens begin with VALUES or SELECT.
func valuesOf(t sqltext.Tokens) (values []sqltext.Tokens) {
	if t.Is(0, "select") {
		return listIn(t[1:].Until(0, "from", "where", "returning", "on", "union"))
	}
	for at := 1; t.IsSign(at, "("); at += 2 { // the closing bracket and a comma
		end := min(t.ClosingBracket(at), len(t))
		values = append(values, listIn(t[at+1:end])...)
		at = end
	}
	return values
}

// listIn returns the entries of a list with commas.
func listIn(t sqltext.Tokens) (entries []sqltext.Tokens) {
	for from := 0; from < len(t); {
		to := t.EndOfValue(from, len(t))
		entries, from = append(entries, t[from:to]), to+1
	}
	return entries
}

// contained returns the columns of NEW and OLD that a value contains as they are, or in other letters.
func contained(value sqltext.Tokens) []string {
	for i := range value {
		isCall := value.IsName(i) && value.IsSign(i+1, "(")
		if isCall && !value.Is(i, containing...) || value.IsSign(i, "=", "<", ">", "!", "-", "~") ||
			value.Is(i, "is", "case", "and", "or", "not", "in", "like", "select") {
			return nil
		}
	}
	columns, _ := rowReads(value)
	return columns
}

// containing are functions whose results contain their arguments.
var containing = []string{
	"lower", "upper", "initcap", "trim", "btrim", "ltrim", "rtrim", "coalesce", "nullif", "concat", "concat_ws", "format",
	"to_json", "to_jsonb", "row_to_json", "hstore", "json_build_object", "jsonb_build_object", "json_build_array",
	"jsonb_build_array", "row", "array",
}

// assigned returns the value of an assignment column = value.
func assigned(set sqltext.Tokens) sqltext.Tokens {
	begin := slices.IndexFunc(set, func(token sqltext.Token) bool { return token.Text == "=" })
	return set[begin+1:]
}
