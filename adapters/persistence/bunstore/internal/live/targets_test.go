package live

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/internal/sqltext"
)

func TestAnUpdateThatOnlyCountsIsNoWrite(t *testing.T) {
	for text, counts := range map[string]bool{
		"UPDATE stats SET n = n + 1 WHERE id = NEW.id;":                                                        true,
		"UPDATE stats SET n = GREATEST(COALESCE(n, 0) - 1, 0), m = m + 1;":                                     true,
		"UPDATE stats SET n = (SELECT count(*) FROM likes WHERE id = NEW.id);":                                 true,
		"UPDATE stats AS s SET n = s.n + d.n, m = s.m - d.m FROM (SELECT count(*) n, 2 m FROM new_rows) AS d;": true,
		"WITH d AS (SELECT sum(x) n FROM old_rows) UPDATE stats SET n = stats.n - d.n FROM d;":                 true,
		"UPDATE stats SET n = (SELECT coalesce(sum(size), 0) FROM likes WHERE id = NEW.id);":                   true,
		"UPDATE stats AS s SET n = s.n + d.n, last = d.last FROM (SELECT last FROM new_rows) AS d;":            false,
		"UPDATE stats SET n = n + d.n || d.last FROM d;":                                                       false,
		"UPDATE stats SET n = m + d.n FROM d;":                                                                 false,
		"UPDATE stats SET n = n + OLD.age;":                                                                    false,
		"UPDATE stats SET n = n + NEW.age;":                                                                    false,
		"UPDATE stats SET n = NEW.age;":                                                                        false,
		"UPDATE stats SET n = n + 1, last = NEW.email;":                                                        false,
		"UPDATE stats SET n = (SELECT max(age) FROM people);":                                                  false,
		"UPDATE stats SET n = n + 1; UPDATE stats SET last = NEW.email;":                                       false,
		"UPDATE stats SET n = 5;":                                                                              false,
		"UPDATE stats SET (n, last) = (SELECT count(*), NEW.email FROM likes);":                                false,
		"UPDATE stats SET n = (SELECT count(*) FROM likes) || NEW.email;":                                      false,
		"UPDATE stats SET n = n + 1, name = (SELECT count(*) || NEW.a FROM likes);":                            false,
	} {
		written, _, _ := targetTables(sqltext.TokensOf(text, nil))
		if isWritten := len(written) > 0; isWritten == counts {
			t.Errorf("%s writes to %q, want a count: %t", text, written, counts)
		}
	}
}

func TestAConstantStatementIsRead(t *testing.T) {
	for text, want := range map[string]struct {
		written, deleted []string
		isDynamic        bool
	}{
		"EXECUTE 'LOCK visits IN EXCLUSIVE MODE';":                {},
		"EXECUTE 'UPDATE logs SET last = $1' USING NEW.email;":    {written: []string{"logs"}},
		"EXECUTE $q$DELETE FROM logs$q$;":                         {deleted: []string{"logs"}},
		"EXECUTE 'UPDATE ' || name || ' SET a = 1';":              {isDynamic: true},
		"EXECUTE 'SELECT ''a''';":                                 {isDynamic: true},
		"EXECUTE E'LOCK visits';":                                 {isDynamic: true},
		"EXECUTE 'SELECT f()';":                                   {isDynamic: true},
		"EXECUTE format('LOCK %I', TG_TABLE_NAME);":               {isDynamic: true},
		"EXECUTE statement;":                                      {isDynamic: true},
		"EXECUTE 'LOCK visits'; EXECUTE 'LOCK ' || TG_TABLE_NAME": {isDynamic: true},
	} {
		written, deleted, isDynamic := targetTables(sqltext.TokensOf(text, nil))
		if !slices.Equal(written, want.written) || !slices.Equal(deleted, want.deleted) || isDynamic != want.isDynamic {
			t.Errorf("%s: got %q, %q, %t", text, written, deleted, isDynamic)
		}
	}
}
