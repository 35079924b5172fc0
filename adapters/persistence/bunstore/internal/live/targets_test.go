package live

import (
	"testing"

	"github.com/habeas-data/habeas/internal/sqltext"
)

func TestAnUpdateThatOnlyCountsIsNoWrite(t *testing.T) {
	for text, counts := range map[string]bool{
		"UPDATE stats SET n = n + 1 WHERE id = NEW.id;":                             true,
		"UPDATE stats SET n = GREATEST(COALESCE(n, 0) - 1, 0), m = m + 1;":          true,
		"UPDATE stats SET n = (SELECT count(*) FROM likes WHERE id = NEW.id);":      true,
		"UPDATE stats SET n = n + NEW.age;":                                         false,
		"UPDATE stats SET n = NEW.age;":                                             false,
		"UPDATE stats SET n = n + 1, last = NEW.email;":                             false,
		"UPDATE stats SET n = (SELECT max(age) FROM people);":                       false,
		"UPDATE stats SET n = n + 1; UPDATE stats SET last = NEW.email;":            false,
		"UPDATE stats SET n = 5;":                                                   false,
		"UPDATE stats SET (n, last) = (SELECT count(*), NEW.email FROM likes);":     false,
		"UPDATE stats SET n = (SELECT count(*) FROM likes) || NEW.email;":           false,
		"UPDATE stats SET n = n + 1, name = (SELECT count(*) || NEW.a FROM likes);": false,
	} {
		written, _, _ := targetTables(sqltext.TokensOf(text, nil))
		if isWritten := len(written) > 0; isWritten == counts {
			t.Errorf("%s writes to %q, want a count: %t", text, written, counts)
		}
	}
}
