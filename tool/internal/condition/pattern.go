package condition

import (
	"regexp"
	"strings"
)

// matches reports whether a text matches a pattern. The parameter translate converts the pattern to a regular
// expression of Go.
func matches(value, pattern Value, translate func(pattern string) (expression string, ok bool), foldCase bool) Value {
	if result, known := strict(value, pattern); known {
		return result
	}
	expression, ok := translate(pattern.text)
	if value.kind != text || pattern.kind != text || !ok {
		return Value{}
	}
	flags := "(?s)"
	if foldCase {
		flags = "(?si)"
	}
	compiled, err := regexp.Compile(flags + expression)
	if err != nil {
		return Value{}
	}
	return Boolean(compiled.MatchString(value.text))
}

// likePattern returns a function that converts a LIKE pattern to a regular expression of Go. If escapes is true, the
// backslash is the escape character of the pattern.
func likePattern(escapes bool) func(string) (string, bool) {
	return func(pattern string) (string, bool) {
		var b strings.Builder
		escaped := false
		for _, r := range pattern {
			switch {
			case escapes && r == '\\' && !escaped:
				escaped = true
				continue
			case r == '%' && !escaped:
				b.WriteString(".*")
			case r == '_' && !escaped:
				b.WriteString(".")
			default:
				b.WriteString(regexp.QuoteMeta(string(r)))
			}
			escaped = false
		}
		return "^" + b.String() + "$", !escaped
	}
}

// globPattern converts a GLOB pattern of SQLite to a regular expression of Go.
func globPattern(pattern string) (string, bool) {
	var b strings.Builder
	for pattern != "" {
		r := pattern[:1]
		pattern = pattern[1:]
		switch r {
		case "*":
			b.WriteString(".*")
		case "?":
			b.WriteString(".")
		case "[":
			inside, rest, closed := strings.Cut(pattern, "]")
			if !closed || inside == "" || inside == "^" || strings.ContainsAny(inside, `\[`) {
				return "", false
			}
			b.WriteString("[" + inside + "]")
			pattern = rest
		default:
			b.WriteString(regexp.QuoteMeta(r))
		}
	}
	return "^" + b.String() + "$", true
}

// unsupported are parts of PostgreSQL regular expressions that Go does not support, or for which Go has another
// meaning.
var unsupported = []string{
	`\m`, `\M`, `\y`, `\Y`, `\Z`, `\A`, `\B`, `\b`, "***", "(?=", "(?!", "(?<", "[[.", "[[=", "[[:<", "[[:>", "{,",
}

// regularExpression converts a regular expression of PostgreSQL to one of Go. It returns false if Go may give another
// result.
func regularExpression(pattern string) (string, bool) {
	for _, part := range unsupported {
		if strings.Contains(pattern, part) {
			return "", false
		}
	}
	if flags, _, found := strings.Cut(pattern, ")"); found && strings.HasPrefix(flags, "(?") {
		if flags != "(?i" && !strings.HasPrefix(flags, "(?:") {
			return "", false
		}
	}
	return pattern, true
}
