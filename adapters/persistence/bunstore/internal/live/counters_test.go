package live

import "testing"

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
		written, _, _ := TokensOf(text, nil).targetTables()
		if isWritten := len(written) > 0; isWritten == counts {
			t.Errorf("%s writes to %q, want a count: %t", text, written, counts)
		}
	}
}
