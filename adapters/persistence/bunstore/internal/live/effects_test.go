package live

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestATriggerMayRefuseOrSkipItsStatement(t *testing.T) {
	const surely, maybe = datamap.VerdictHolds, datamap.VerdictUndecided
	for text, want := range map[string][2]datamap.Verdict{
		"BEGIN RAISE EXCEPTION 'no'; END": {surely, ""},
		"BEGIN RAISE 'no'; END":           {surely, ""},
		"BEGIN IF NEW.id > 1 THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END": {maybe, ""},
		"BEGIN RAISE NOTICE 'yes'; RETURN NEW; END":                              {"", ""},
		"BEGIN a; EXCEPTION WHEN others THEN RAISE; END":                         {"", ""},
		"BEGIN RETURN NULL; END":                                                 {"", surely},
		"BEGIN IF OLD.id = 1 THEN RETURN OLD; END IF; RETURN NULL; END":          {"", maybe},
		"BEGIN RETURN NEW; END":                                                  {"", ""},
	} {
		trigger := &liveTrigger{early: true}
		if refuses, skips := trigger.effects(TokensOf(text, nil), false); refuses != want[0] || skips != want[1] {
			t.Errorf("%s: refuses %q, skips %q", text, refuses, skips)
		}
	}
	late, conditional := &liveTrigger{}, &liveTrigger{early: true, when: []Tokens{{}}}
	if _, skips := late.effects(TokensOf("BEGIN RETURN NULL; END", nil), false); skips != "" {
		t.Error("a trigger that runs after the statement cannot skip a row")
	}
	if refuses, _ := conditional.effects(TokensOf("BEGIN RAISE 'no'; END", nil), false); refuses != maybe {
		t.Error("a trigger with a condition surely refuses")
	}
	for text, want := range map[string][2]datamap.Verdict{
		"BEGIN SELECT RAISE(ABORT, 'no'); END":                 {surely, ""},
		"BEGIN SELECT RAISE(FAIL, 'no') WHERE OLD.id = 1; END": {maybe, ""},
		"BEGIN SELECT RAISE(IGNORE); END":                      {"", surely},
		"BEGIN UPDATE pages SET n = 1; END":                    {"", ""},
	} {
		if refuses, skips := late.effects(TokensOf(text, nil), true); refuses != want[0] || skips != want[1] {
			t.Errorf("%s: refuses %q, skips %q", text, refuses, skips)
		}
	}
}

func TestADeletionIsTiedToTheRowOfItsTrigger(t *testing.T) {
	for text, want := range map[string][]string{
		"DELETE FROM marks AS m WHERE m.user_id = OLD.user_id AND m.page = OLD.page;": {"user_id", "page"},
		"DELETE FROM ONLY marks WHERE OLD.user_id = user_id RETURNING id;":            {"user_id"},
		"DELETE FROM marks WHERE user_id = OLD.user_id OR page = 1;":                  nil,
		"DELETE FROM marks WHERE page = OLD.user_id;":                                 nil,
		"DELETE FROM marks;": nil,
		"DELETE FROM marks USING users u WHERE u.id = OLD.id AND user_id = u.id;":                       nil,
		"DELETE FROM marks WHERE user_id = OLD.user_id; DELETE FROM marks WHERE page = 1;":              nil,
		"DELETE FROM marks WHERE a = OLD.a AND b = OLD.b; DELETE FROM marks WHERE b = OLD.b AND c = 1;": {"b"},
	} {
		if got := TokensOf(text, nil).tiedDeletions()["marks"]; !slices.Equal(got, want) {
			t.Errorf("%s: got %q", text, got)
		}
	}
}
