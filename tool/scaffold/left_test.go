package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

// The question must name each column that may mean a person, because the answer depends on all of them.
func TestAQuestionAboutRowsNamesEachPerson(t *testing.T) {
	for line, want := range map[string]string{
		"teams: id*, sender_id>users, user_id>users, name":               "further references lead to people (user_id)",
		"teams: id*, owner_id>users, name, updated_by:bigint>users":      "further references lead to people (updated_by)",
		"teams: id*, owner_id>users, name, person_id:uuid":               "perhaps by person_id, which has no foreign key",
		"teams: id*, owner_id>users, name, author:json":                  "perhaps by author, which has no foreign key",
		"teams: id*, owner_id>users, name, inviter:uuid, person_id:uuid": "perhaps by inviter, person_id, which have no ",
		"teams: id*, owner_id>users, name, person_count:integer":         "Its rows lead to a person by owner_id. Are they",
		"teams: id*, owner_id>users, name, author_type, author_id:uuid":  "Its rows lead to a person by owner_id. Are they",
		"seat_sales: id*, user_id>users, size:integer, person_id:uuid":   "which has no foreign key, but no column looks",
		"texts: id*, comment, comment_by:integer":                        "Columns look personal (comment, comment_by)",
		"texts: id*, comment, needed_diaperid:integer":                   "Columns look personal (comment), but no",
		"versions: id*, item_type, item_id, whodunnit, object:json":      "whodunnit seems to name the person who",
		"versions: id*, item_type, item_id, event, object:json":          "no relation leads to. Do they hold data",
		"versions: id*, item_type, item_id, owner_id:uuid, object:json":  "no relation leads to. Do they hold data",
	} {
		p := propose(t, schema(users+line))
		name, _, _ := strings.Cut(line, ":")
		if len(p.questionsAbout(name, want)) != 1 {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}

func TestAReasonNamesTheMakerOfAWork(t *testing.T) {
	p := propose(t, schema(users+"texts: id*, comment, comment_by:integer"))
	i := slices.IndexFunc(p.LeftOut, func(out scaffold.LeftOut) bool { return out.Table == "texts" })
	if !strings.Contains(p.LeftOut[i].Reason, "comment_by may mean a person") {
		t.Errorf("the reason is %q", p.LeftOut[i].Reason)
	}
}

// One question about many tables still names all of these columns.
func TestAQuestionAboutManyTablesNamesEachPerson(t *testing.T) {
	p := propose(t, schema(users+`
		groups: id*, owner_id>users, name
		rooms: id*, owner_id>users, name, closer_id?>users, inviter:uuid
		teams: id*, owner_id>users, name`))
	want := "Tables groups (owner_id), rooms (owner_id, closer_id, inviter), teams (owner_id): Their rows lead to a person"
	if len(p.questionsAbout("users", want)) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// The columns without a foreign key are not only those of the people who made a row.
func TestARowThatIsOnlyMadeNamesNobodyElse(t *testing.T) {
	p := propose(t, schema(users+`
		groups: id*, created_by:bigint>users, name
		rooms: id*, created_by:bigint>users, name
		teams: id*, created_by:bigint>users, name
		spots: id*, created_by:bigint>users, name, person_id:uuid`))
	if len(p.questionsAbout("spots", "perhaps by person_id")) != 1 ||
		len(p.questionsAbout("users", "Tables groups, rooms, teams: Their rows only say")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// The name of another person need not be that of the person whose rows an erasure finds.
func TestThePersonOfAJobIsAsked(t *testing.T) {
	for line, want := range map[string]string{
		"families: id*, case_manager, size:integer":               "Columns look personal (case_manager)",
		"displays: id*, quote, quote_by":                          "Columns look personal (quote_by)",
		"profiles: id*, user_id!>users=cascade, city, sales_rep?": "",
	} {
		p := propose(t, schema(users+line))
		name, _, _ := strings.Cut(line, ":")
		if want != "" && len(p.questionsAbout(name, want)) != 1 {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
		if want == "" && p.column(t, "profiles.sales_rep").Personal == nil {
			t.Errorf("%s: it is not annotated, asked %v", line, p.Decisions)
		}
	}
}
