package conn

import "strings"

// notFunctions are the words that look like a call of a function, but have a syntax of their own. The database finds
// what they mean without the search path.
var notFunctions = map[string]bool{
	"all": true, "any": true, "array": true, "cast": true, "coalesce": true, "conflict": true, "exists": true,
	"extract": true, "greatest": true, "in": true, "key": true, "least": true, "nullif": true, "operator": true,
	"position": true, "row": true, "second": true, "some": true, "trim": true, "unique": true, "values": true,
	"varying": true,
}

// qualify puts pg_catalog in front of the name of each function that has no schema, outside of quoted text. Otherwise
// another role that may create functions in a schema of the search path could choose the function: a function whose
// parameters fit the arguments better precedes the one of PostgreSQL. In the statements of habeas, only the name of a
// function has no space before its parenthesis. The functions of habeas are left as they are.
func qualify(text string) string {
	var ready strings.Builder
	written, begin := 0, -1 // begin is the begin of the current name, or -1
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isNameByte(c):
			if begin < 0 {
				begin = i
			}
			continue
		case c == '(' && begin >= 0 && isFunction(text, begin, i):
			ready.WriteString(text[written:begin])
			ready.WriteString("pg_catalog.")
			written = begin
		case c == '\'' || c == '"':
			i = endOfQuotation(text, i)
		}
		begin = -1
	}
	if written == 0 {
		return text
	}
	ready.WriteString(text[written:])
	return ready.String()
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// isFunction reports whether text[begin:end] is the name of a function of PostgreSQL without a schema. A name after AS
// is that of a type with a length, such as CAST(… AS vector(3)), or an alias.
func isFunction(text string, begin, end int) bool {
	name := strings.ToLower(text[begin:end])
	if before := strings.TrimRight(text[:begin], " "); len(before) < begin && strings.HasSuffix(before, " AS") {
		return false
	}
	return (begin == 0 || text[begin-1] != '.' && text[begin-1] != '"') && !notFunctions[name] &&
		!strings.HasPrefix(name, "habeas_")
}

// endOfQuotation returns the index of the quote that ends a quotation. A doubled quote ends it and begins another one.
func endOfQuotation(text string, begin int) int {
	if n := strings.IndexByte(text[begin+1:], text[begin]); n >= 0 {
		return begin + 1 + n
	}
	return len(text) - 1
}
