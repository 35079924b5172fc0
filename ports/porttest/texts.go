package porttest

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

// distinctTexts returns texts that a faulty store may change, or confuse with each other. The cases use them as
// purposes, as elements of ids and as values of payloads. Each text has 1 to domain.MaxTextLength characters, is valid
// UTF-8 and contains no NUL.
func distinctTexts() []string {
	return []string{
		"news", "News", "news ", " news", "news\n", "new", "newsletter", // case, spaces, and substrings
		"caf\u00e9", "cafe\u0301", "cafe", // Unicode normal forms and accents
		"stra\u00dfe", "strasse", "i", "\u0131", "\u0130", "I", // case folding
		"%", "_", "n%", "n_ws", "*", // wildcards of patterns
		"'", `"`, "''", "`", "; --", "$1", "?", "?0", "{}", "%s", // quotes and placeholders of statements
		`\`, `\\`, `\u`, `\n`, "&amp;", "<b>", // escapes
		"\x1f", "\x01", "\x7f", "\u2028", "\u202e", "\ufeff", "\u200b", // invisible characters
		"null", "NULL", "0", "00", "1e3", "true", // values of other types
		"日本語", "😀", "👩\u200d👧", // several bytes, UTF-16 units and code points
		strings.Repeat("😀", domain.MaxTextLength),
		strings.Repeat("😀", domain.MaxTextLength-1) + "😁", // different only in the last character
	}
}

// distinctSubjects returns ids that a faulty store may confuse with each other.
func distinctSubjects(t testing.TB) []domain.SubjectID {
	t.Helper()
	ids := []domain.SubjectID{
		subjectOf(t, "a", "b1"), subjectOf(t, "ab", "1"), subjectOf(t, "ab1"), subjectOf(t, "a", "b", "1"), subjectOf(t, "a"),
		subjectOf(t, "1", "ab"), subjectOf(t, `a\ub1`), subjectOf(t, `a\`, "b1"), subjectOf(t, "a\x1fb1", "1"),
		subjectOf(t, `a\u`, "b1"),
	}
	for _, text := range distinctTexts() {
		if text != "\x1f" { // domain.SubjectID separates the elements of an id by this character
			ids = append(ids, subjectOf(t, text))
		}
		if len([]rune(text)) < domain.MaxTextLength-1 {
			ids = append(ids, subjectOf(t, "tenant", text))
		}
	}
	return ids
}
