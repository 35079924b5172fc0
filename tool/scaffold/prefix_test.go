package scaffold_test

import (
	"slices"
	"strings"
	"testing"
)

// The columns do not repeat the prefix of the tables.
func TestThePrefixOfAllTablesIsNoPartOfTheirNames(t *testing.T) {
	lines := `
		crm_users: id*, email
		crm_user_flags: id*, user_id, shown:boolean
		crm_saved_songs: id*, user_id, song_id, place:integer
		crm_songs: id*, size:integer
		crm_texts: id*, body
		`
	p := propose(t, schema(lines))
	for _, want := range []string{"delete crm_user_flags", "delete crm_saved_songs"} {
		if !slices.Contains(p.steps(), want) {
			t.Errorf("no step %q in %v", want, p.steps())
		}
	}
	for name, other := range map[string]string{
		"too few tables": strings.ReplaceAll(lines, "crm_texts", "texts"),
		"a table":        lines + "crm: id*, size:integer",
		"many others":    lines + "a: id*\nb: id*",
	} {
		if steps := propose(t, schema(other)).steps(); slices.Contains(steps, "delete crm_user_flags") {
			t.Errorf("%s: the steps are %v", name, steps)
		}
	}
}

func TestAColumnMayRepeatThePrefix(t *testing.T) {
	p := propose(t, schema(`
		crm_users: id*, email
		crm_notes: id*, crm_user_id, body
		crm_pages: id*, crm_note_id, size:integer, title
		crm_songs: id*, size:integer
		crm_texts: id*, body`))
	if !slices.Contains(p.steps(), "anonymize crm_notes body") {
		t.Errorf("the steps are %v", p.steps())
	}
	if len(p.questionsAbout("crm_pages", "by crm_note_id")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}
