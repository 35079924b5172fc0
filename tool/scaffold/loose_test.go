package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

// loose is a schema of an application that declares neither foreign keys nor NOT NULL, besides one foreign key that a
// later migration added.
const loose = `
	users: id*, email
	songs: id*, size:integer
	plays: id*, user_id?, song_id?, at:time
	choices: id*, user_id?, colour_set:boolean
	flairs: id*, user_id?, shown:boolean
	past_emails: id*, user_id>users, email
	`

func TestNullTellsNothingInALooseSchema(t *testing.T) {
	p := propose(t, schema(loose+"marks: id*, user_id?, song_id?, at:time"))
	if steps := p.steps(); !slices.Contains(steps, "delete marks") || !slices.Contains(steps, "delete choices") {
		t.Errorf("the steps are %v", steps)
	}
	strict := strings.ReplaceAll(loose, "user_id?", "user_id") + "marks: id*, user_id?, song_id?, at:time"
	if steps := propose(t, schema(strict)).steps(); slices.Contains(steps, "delete marks") {
		t.Errorf("with NOT NULL, the steps are %v", steps)
	}
}

// A second person may have written the text, although the reference to this person can be NULL.
func TestASecondPersonOfALooseSchemaMayBeTheWriter(t *testing.T) {
	p := propose(t, schema(loose+"notes: id*, user_id?, approver_id?, body"))
	if _, mapped := p.dataMap.Table("notes"); mapped || !slices.Contains(p.asked(), "notes") {
		t.Errorf("the steps are %v, asked %v", p.steps(), p.asked())
	}
}

func TestAFewForeignKeysMakeNoGuessDoubtful(t *testing.T) {
	p := propose(t, schema(loose+"notices: id*, recipient_id, text"))
	if len(p.questionsAbout("notices", "has no foreign key. Are")) > 0 {
		t.Errorf("asked %v", p.Decisions)
	}
	keys := strings.ReplaceAll(loose, "user_id?", "user_id?>users")
	p = propose(t, schema(keys+"badges: id*, assignee_id, colour_set:boolean"))
	if len(p.questionsAbout("badges", "has no foreign key. Are")) != 1 {
		t.Errorf("with foreign keys, asked %v", p.Decisions)
	}
}

func TestAUsualColumnMeansTheOnlyPeople(t *testing.T) {
	lines := `
		crew: id*, email, password
		searches: id*, uid:integer, query
		visits: id*, uid:integer, ip
		likes: id*, uid:integer, page_no:bigint
		drafts: id*, uid:integer, body
		`
	options := scaffold.Options{SubjectTable: "crew"}
	if steps := propose(t, schema(lines), options).steps(); !slices.Contains(steps, "delete searches") {
		t.Errorf("the steps are %v", steps)
	}
	for _, other := range []string{
		"guests: id*, email", "operators: id*, label", "consoles: id*, email, password",
	} {
		if steps := propose(t, schema(lines+other), options).steps(); slices.Contains(steps, "delete searches") {
			t.Errorf("%s: the steps are %v", other, steps)
		}
	}
	companies := strings.ReplaceAll(lines, "uid:integer", "account_id")
	if steps := propose(t, schema(companies), options).steps(); slices.Contains(steps, "delete searches") {
		t.Errorf("with the key of an account, the steps are %v", steps)
	}
	few := strings.ReplaceAll(lines, "drafts: id*, uid", "drafts: id*, size")
	if steps := propose(t, schema(few), options).steps(); slices.Contains(steps, "delete searches") {
		t.Errorf("with three columns, the steps are %v", steps)
	}
}

// The parents of such a row are unknown, so that other people's rows may depend on it.
func TestTextsWithAnUnknownParentStay(t *testing.T) {
	for _, parent := range []string{"page_no_id", "commentable_type, commentable_id", "nid:integer"} {
		p := propose(t, schema(loose+"comments: id*, user_id?, body, "+parent))
		if !slices.Contains(p.steps(), "anonymize comments body") {
			t.Errorf("%s: the steps are %v", parent, p.steps())
		}
	}
	if steps := propose(t, schema(loose+"comments: id*, user_id?, body")).steps(); !slices.Contains(
		steps, "delete comments") {
		t.Errorf("the steps are %v", steps)
	}
}

func TestThePeopleOfAnActionArePeople(t *testing.T) {
	for _, columns := range []string{"muter_id?, muted_id?", "admirerId:bigint?, admiredId:bigint?"} {
		p := propose(t, schema(loose+"mutes: id*, "+columns+", at:time"))
		if !slices.ContainsFunc(p.steps(), func(step string) bool { return strings.HasPrefix(step, "delete mutes via") }) {
			t.Errorf("%s: the steps are %v", columns, p.steps())
		}
	}
	for _, columns := range []string{"server_id, served:boolean", "muter_id, muted_id:uuid", "water_id, wasted_id"} {
		p := propose(t, schema(loose+"ties: id*, "+columns+", at:time"))
		if _, mapped := p.dataMap.Table("ties"); mapped {
			t.Errorf("%s: the steps are %v", columns, p.steps())
		}
	}
	p := propose(t, schema(users+"visits: id*, user_id>users, ip\nmutes: id*, muter_id, muted_id, at:time"))
	if _, mapped := p.dataMap.Table("mutes"); mapped || !slices.Contains(p.asked(), "mutes") {
		t.Errorf("with foreign keys, the steps are %v, asked %v", p.steps(), p.asked())
	}
}

// The key of a thing may be equal to the key of a person.
func TestThePairsOfThingsAreNoPeople(t *testing.T) {
	for _, line := range []string{
		"crates: id*, container_id, contained_id, at:time",
		"dependencies: id*, blocker_id, blocked_id, at:time",
		"song_blocks: id*, blocker_id, blocked_id, at:time",
		"redemptions: id*, user_id, used_id, at:time",
	} {
		p := propose(t, schema(loose+line))
		name := schema(line).Tables[0].Name
		if steps := p.steps(); slices.ContainsFunc(steps, func(step string) bool {
			return strings.HasPrefix(step, "delete "+name+" via")
		}) || name != "redemptions" && !slices.Contains(p.asked(), name) {
			t.Errorf("%s: the steps are %v, asked %v", line, steps, p.asked())
		}
	}
}

func TestTheUseOfAThingIsThePersons(t *testing.T) {
	for line, want := range map[string]bool{
		"readings: id*, user_id, song_id, last_viewed:time, view_count:integer":        true,
		"readings: id*, user_id, song_id, last_read_at:time, version:integer":          true,
		"readings: id*, user_id, song_id, last_changed:time, view_count:integer":       false,
		"readings: id*, user_id, song_id, last_viewed:time, kind":                      true,
		"readings: id*, user_id, song_id, last_viewed:time, view_count:integer, title": false,
		"sheets: id*, user_id, song_id, last_viewed:time, path":                        false,
		"sheets: id*, user_id, song_id, last_viewed:time, cells:json":                  false,
	} {
		steps := propose(t, schema(loose+line)).steps()
		if slices.Contains(steps, "delete "+schema(line).Tables[0].Name) != want {
			t.Errorf("%s: the steps are %v", line, steps)
		}
	}
}

func TestNoticesOfPaymentsStay(t *testing.T) {
	p := propose(t, schema(loose+"store_notifications: id*, user_id, original_transaction_id:text, data:json"))
	if _, mapped := p.dataMap.Table("store_notifications"); mapped || !slices.Contains(p.asked(), "store_notifications") {
		t.Errorf("the steps are %v, asked %v", p.steps(), p.asked())
	}
}

func TestPseudonymsStayWithoutTheirNames(t *testing.T) {
	p := propose(t, schema(loose+"pseuds: id*, user_id?, name\nsignings: id*, pseud_id?, song_id?, at:time"))
	if !slices.Contains(p.steps(), "anonymize pseuds name") {
		t.Errorf("the steps are %v", p.steps())
	}
}
