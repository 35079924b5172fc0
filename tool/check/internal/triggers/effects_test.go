package triggers_test

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
)

// effectsOf returns the effects of a trigger with the header and the code, of PostgreSQL or of SQLite.
func effectsOf(header, code string, isSQLite bool) triggers.Effects {
	if isSQLite {
		return triggers.Read(datamap.CatalogTable{Name: "pages", FoldsCase: true},
			datamap.CatalogTrigger{Definition: "CREATE TRIGGER t " + header + " " + code})
	}
	return triggers.Read(datamap.CatalogTable{Name: "pages"}, datamap.CatalogTrigger{
		Definition: "CREATE TRIGGER t " + header + " EXECUTE FUNCTION f()", Language: "plpgsql", Code: code,
	})
}

func TestATriggerMayRefuseOrSkipItsStatement(t *testing.T) {
	const surely, maybe = datamap.VerdictHolds, datamap.VerdictUndecided
	const early, late = "BEFORE DELETE ON pages FOR EACH ROW", "AFTER DELETE ON pages FOR EACH ROW"
	for _, test := range []struct {
		header, code   string
		refuses, skips datamap.Verdict
	}{
		{early, "BEGIN RAISE EXCEPTION 'no'; END", surely, ""},
		{early, "BEGIN RAISE 'no'; END", surely, ""},
		{early, "BEGIN IF NEW.id > 1 THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END", maybe, ""},
		{early, "BEGIN RAISE NOTICE 'yes'; RETURN NEW; END", "", ""},
		{early, "BEGIN a; EXCEPTION WHEN others THEN RAISE; END", "", ""},
		{early, "BEGIN RETURN NULL; END", "", surely},
		{early, "BEGIN IF OLD.id = 1 THEN RETURN OLD; END IF; RETURN NULL; END", "", maybe},
		{early, "BEGIN RETURN NEW; END", "", ""},
		{late, "BEGIN RETURN NULL; END", "", ""},
		{early + " WHEN (OLD.id > 1)", "BEGIN RAISE 'no'; END", maybe, ""},
	} {
		if got := effectsOf(test.header, test.code, false); got.Refuses != test.refuses || got.Skips != test.skips {
			t.Errorf("%s %s: refuses %q, skips %q", test.header, test.code, got.Refuses, got.Skips)
		}
	}
	for code, want := range map[string][2]datamap.Verdict{
		"BEGIN SELECT RAISE(ABORT, 'no'); END":                 {surely, ""},
		"BEGIN SELECT RAISE(FAIL, 'no') WHERE OLD.id = 1; END": {maybe, ""},
		"BEGIN SELECT RAISE(IGNORE); END":                      {"", surely},
		"BEGIN UPDATE pages SET n = 1; END":                    {"", ""},
	} {
		if got := effectsOf("AFTER DELETE ON pages", code, true); got.Refuses != want[0] || got.Skips != want[1] {
			t.Errorf("%s: refuses %q, skips %q", code, got.Refuses, got.Skips)
		}
	}
}

func TestATriggerRefusesATextInAColumn(t *testing.T) {
	for code, want := range map[string]string{
		"BEGIN IF NEW.title = '' THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END":                         "",
		"BEGIN IF (new.title = 'x') THEN RAISE 'no'; END IF; RETURN NEW; END":                                "x",
		"BEGIN IF NEW.title = 'x' THEN RAISE NOTICE 'no'; END IF; RETURN NEW; END":                           "none",
		"BEGIN IF NEW.title = 'x' AND NEW.n = 1 THEN RAISE 'no'; END IF; RETURN NEW; END":                    "none",
		"BEGIN IF OLD.title = 'x' THEN RAISE 'no'; END IF; RETURN NEW; END":                                  "none",
		"BEGIN IF NEW.n = 1 THEN RETURN NEW; END IF; IF NEW.title = 'x' THEN RAISE 'no'; END IF; END":        "none",
		"BEGIN IF NEW.n = 1 THEN a; ELSIF NEW.title = 'x' THEN RAISE 'no'; END IF; END":                      "none",
		"BEGIN IF NEW.title = 'x' THEN RAISE 'no'; END IF; EXCEPTION WHEN others THEN RETURN NEW; END":       "none",
		"BEGIN IF NEW.n = 1 THEN IF NEW.title = 'x' THEN RAISE 'no'; END IF; END IF; RETURN NEW; END":        "none",
		"BEGIN FOR i IN 1..2 LOOP IF NEW.title = 'x' THEN RAISE 'no'; END IF; END LOOP; RETURN NEW; END":     "none",
		"BEGIN IF NEW.title = 'x' THEN a; ELSE RAISE 'no'; END IF; RETURN NEW; END":                          "none",
		"BEGIN IF NEW.title = x THEN RAISE EXCEPTION 'the column has no constant'; END IF; RETURN NEW; END;": "none",
	} {
		got, refuses := effectsOf("AFTER UPDATE ON pages FOR EACH ROW", code, false).RefusesTexts["title"]
		if !refuses {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
	if got := effectsOf("AFTER UPDATE ON pages FOR EACH ROW WHEN (NEW.n > 1)",
		"BEGIN IF NEW.title = 'x' THEN RAISE 'no'; END IF; END", false).RefusesTexts; len(got) > 0 {
		t.Errorf("with a condition: got %q", got)
	}
}

func TestADeletionIsTiedToTheRowOfItsTrigger(t *testing.T) {
	user, page := triggers.Tie{Column: "user_id", Row: "user_id"}, triggers.Tie{Column: "page", Row: "page"}
	own := triggers.Tie{Column: "user_id", Row: "id"}
	for code, want := range map[string][]triggers.Tie{
		"DELETE FROM marks AS m WHERE m.user_id = OLD.user_id AND m.page = OLD.page;": {user, page},
		"DELETE FROM ONLY marks WHERE OLD.user_id = user_id RETURNING id;":            {user},
		"DELETE FROM marks WHERE user_id = OLD.id;":                                   {own},
		"DELETE FROM marks WHERE user_id = NEW.id;":                                   nil,
		"DELETE FROM marks WHERE user_id = OLD.user_id OR page = 1;":                  nil,
		"DELETE FROM marks;": nil,
		"DELETE FROM marks USING users u WHERE u.id = OLD.id AND user_id = u.id;":                                     nil,
		"DELETE FROM marks USING users u WHERE u.id = marks.id AND id = OLD.id;":                                      nil,
		"DELETE FROM marks m USING users u WHERE m.user_id = OLD.id AND u.id = OLD.id;":                               {own},
		"DELETE FROM marks USING users WHERE users.page = 1 AND marks.user_id = OLD.id;":                              {own},
		"DELETE FROM marks WHERE user_id = OLD.user_id; DELETE FROM marks WHERE page = 1;":                            nil,
		"DELETE FROM marks WHERE user_id = OLD.user_id; DELETE FROM marks WHERE user_id = OLD.id;":                    nil,
		"DELETE FROM marks WHERE user_id = OLD.user_id; PERFORM purge();":                                             nil,
		"DELETE FROM marks WHERE user_id = OLD.user_id AND page = OLD.page; DELETE FROM marks WHERE page = OLD.page;": {page},
	} {
		got := effectsOf("AFTER DELETE ON users FOR EACH ROW", "BEGIN "+code+" RETURN OLD; END", false).Tied["marks"]
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q", code, got)
		}
	}
}

func TestATriggerMayWriteConstantsOnly(t *testing.T) {
	for code, want := range map[string][]string{
		"UPDATE logs SET done = true, n = -1, at = now() WHERE id = OLD.id;":               {"logs"},
		"UPDATE ONLY logs AS l SET state = 'gone'::text FROM pages WHERE l.id IN (1, 2);":  {"logs"},
		"UPDATE logs SET done = true, text = OLD.text;":                                    nil,
		"UPDATE logs SET n = n + 1;":                                                       nil,
		"UPDATE logs SET (a, b) = (1, 2);":                                                 nil,
		"UPDATE logs SET done = true; INSERT INTO logs (text) VALUES (OLD.text);":          nil,
		"UPDATE logs SET done = true; UPDATE logs SET text = held;":                        nil,
		"UPDATE logs SET done = true; UPDATE marks SET text = OLD.text;":                   {"logs"},
		"UPDATE logs SET done = true; PERFORM keep(OLD.text);":                             nil,
		"UPDATE logs SET done = true; EXECUTE 'UPDATE logs SET text = $1' USING OLD.text;": nil,
		"UPDATE logs SET done = true WHERE keep(OLD.text);":                                nil,
		"SELECT 1 FROM logs FOR UPDATE;":                                                   nil,
	} {
		got := effectsOf("AFTER DELETE ON pages FOR EACH ROW", "BEGIN "+code+" RETURN OLD; END", false).Constant
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q", code, got)
		}
	}
}

func TestATriggerRefusesChangesOfAColumn(t *testing.T) {
	for code, refuses := range map[string]bool{
		"IF NEW.title <> OLD.title THEN RAISE EXCEPTION 'no'; END IF;":                     true,
		"IF NEW IS DISTINCT FROM OLD THEN RAISE 'no'; END IF;":                             true,
		"IF NEW.title <> OLD.title THEN RAISE NOTICE 'no'; END IF;":                        false,
		"IF NEW.title <> OLD.title AND NEW.done THEN RAISE 'no'; END IF;":                  false,
		"IF NEW.done <> OLD.done THEN RAISE 'no'; END IF;":                                 false,
		"IF NEW.done THEN RETURN NEW; END IF; IF NEW <> OLD THEN RAISE 'no'; END IF;":      false,
		"IF NEW.title <> OLD.title THEN RAISE 'no'; END IF; EXCEPTION WHEN others THEN a;": false,
	} {
		got := triggers.Read(datamap.CatalogTable{Name: "pages", Columns: []datamap.CatalogColumn{
			{Name: "title", Nullable: true}, {Name: "done", Nullable: true},
		}}, datamap.CatalogTrigger{
			Definition: "CREATE TRIGGER t BEFORE UPDATE ON pages FOR EACH ROW EXECUTE FUNCTION f()", Language: "plpgsql",
			Events: []string{"UPDATE"}, Code: "BEGIN " + code + " RETURN NEW; END",
		}).RefusesChanges
		if slices.Contains(got, "title") != refuses {
			t.Errorf("%s: refuses changes of %q", code, got)
		}
	}
}
