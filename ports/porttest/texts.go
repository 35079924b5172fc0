package porttest

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

// distinctTexts are texts that a careless store cannot keep or takes for one another: as a purpose, as an element of an
// id, or as the value of a payload. Each has 1 to domain.MaxTextLength characters, is valid UTF-8 and holds no NUL.
func distinctTexts() []string {
	return []string{
		"news", "News", "news ", " news", "news\n", "new", "newsletter", // the case, spaces, and parts
		"caf\u00e9", "cafe\u0301", "cafe", // normal forms, accents
		"stra\u00dfe", "strasse", "i", "\u0131", "\u0130", "I", // case folding
		"%", "_", "n%", "n_ws", "*", // patterns
		"'", `"`, "''", "`", "; --", "$1", "?", "?0", "{}", "%s", // statements
		`\`, `\\`, `\u`, `\n`, "&amp;", "<b>", // escapes
		"\x1f", "\x01", "\x7f", "\u2028", "\u202e", "\ufeff", "\u200b", // characters that cannot be seen
		"null", "NULL", "0", "00", "1e3", "true", // other types
		"日本語", "😀", "👩\u200d👧", // of several bytes, UTF-16 units and code points
		strings.Repeat("😀", domain.MaxTextLength),
		strings.Repeat("😀", domain.MaxTextLength-1) + "😁", // different at the very end
	}
}

// distinctSubjects are ids that a careless store takes for one another.
func distinctSubjects(t testing.TB) []domain.SubjectID {
	t.Helper()
	ids := []domain.SubjectID{
		subjectOf(t, "a", "b1"), subjectOf(t, "ab", "1"), subjectOf(t, "ab1"), subjectOf(t, "a", "b", "1"), subjectOf(t, "a"),
		subjectOf(t, "1", "ab"), subjectOf(t, `a\ub1`), subjectOf(t, `a\`, "b1"), subjectOf(t, "a\x1fb1", "1"),
		subjectOf(t, `a\u`, "b1"),
	}
	for _, text := range distinctTexts() {
		if text != "\x1f" { // which joins the elements of composite ids
			ids = append(ids, subjectOf(t, text))
		}
		if len([]rune(text)) < domain.MaxTextLength-1 {
			ids = append(ids, subjectOf(t, "tenant", text))
		}
	}
	return ids
}
