package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// questions has at least three tables with each question that foldEqual folds.
const questions = users + `
	likes: id*, user_id>users=cascade, at:time
	pins: id*, user_id>users=cascade, at:time
	seen: id*, user_id>users=cascade, at:time
	stars: id*, user_id>users=cascade, at:time
	asides: id*, user_id>users=set_null, tint
	boats: id*, user_id>users=set_null, tint
	caves: id*, user_id?>users, name, depth:number
	sizes: cave_id>caves, size:integer
	crags: id*, user_id?>users, name
	dunes: id*, user_id>users=set_null, tint
	early: id*, phone
	fresh: id*, phone
	gates: id*, phone
	hills: id*, phone
	ideas: id*, item_type, item_id
	jokes: id*, item_type, item_id
	kites: id*, item_type, item_id
	lakes: id*, item_type, item_id`

func TestEqualQuestionsAboutManyTablesAreOne(t *testing.T) {
	p := propose(t, schema(questions))
	for _, want := range []string{
		"Tables likes, pins, seen, stars: Do their rows belong only to the person?",
		"Tables asides (user_id), boats (user_id), dunes (user_id): Their rows lead to a person by",
		"Tables caves (user_id), crags (user_id): Their rows lead to a person by",
		"Tables early (phone), fresh (phone), gates (phone), hills (phone): These columns look personal, but no",
		"Columns ideas.item_id, jokes.item_id, kites.item_id, lakes.item_id: A column beside each of them seems",
	} {
		if len(p.questionsAbout("users", want)) != 1 {
			t.Errorf("no question %q in %v", want, p.Decisions)
		}
	}
	for _, name := range []string{"likes", "asides", "early", "ideas"} {
		if slices.ContainsFunc(p.asked(), func(place string) bool { return strings.HasPrefix(place, name) }) {
			t.Errorf("%s is asked about again: %v", name, p.asked())
		}
	}
	for _, out := range p.LeftOut {
		if out.Table == "boats" && !strings.Contains(out.Reason, "clears the reference") {
			t.Errorf("the reason is %q", out.Reason)
		}
	}
}

func TestEqualQuestionsAboutTwoTablesStay(t *testing.T) {
	lines := slices.DeleteFunc(strings.Split(questions, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		return slices.Contains([]string{
			"stars", "seen", "dunes", "boats", "crags", "hills", "gates", "lakes", "kites",
		}, name)
	})
	asked := propose(t, schema(strings.Join(lines, "\n"))).asked()
	for _, place := range []string{"likes", "asides", "early", "ideas.item_id"} {
		if !slices.Contains(asked, place) {
			t.Errorf("%s is not asked about: %v", place, asked)
		}
	}
}

// decided returns the data map after a person has decided about each table of the proposal.
func decided(p proposed) scaffold.Former {
	former := scaffold.Former{DataMap: p.dataMap, Known: map[string][]string{}, Plan: func(m datamap.DataMap) (
		datamap.Plan, error,
	) {
		return erasure.Planner{}.Plan(m, nil)
	}}
	for _, table := range p.Tables {
		former.Known[table.Name] = nil
	}
	for _, out := range p.LeftOut {
		former.Known[out.Table] = nil
	}
	return former
}

// A question about many tables would be lost, because Update returns only the questions about what is new.
func TestUpdateAsksAboutEachTable(t *testing.T) {
	p := propose(t, schema(questions))
	former := decided(p)
	catalog := schema(questions + `
		new_boats: id*, user_id>users=set_null, tint
		waves: id*, user_id>users=cascade, at:time
		wind_jobs: id*, args
		wood_jobs: id*, args
		yarn_uploads: id*, extra:json
		zeal_tracks: id*, submitter_id
		zinc_tracks: id*, submitter_id
		seat_purchases: id*, user_id>users, seats:integer`)
	updated, err := scaffold.Update(t.Context(), memory.NewSchema(catalog), former, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"new_boats", "waves", "wind_jobs", "wood_jobs", "yarn_uploads", "zeal_tracks", "zinc_tracks", "seat_purchases",
	} {
		if !slices.ContainsFunc(updated.Decisions, func(d scaffold.Decision) bool { return d.Table == name }) {
			t.Errorf("no question about %s in %v", name, updated.Decisions)
		}
	}
}

// The note of the table of the people has the question, so it must not stand in the way of an answer.
func TestATableOfAQuestionAboutManyCanBeIncluded(t *testing.T) {
	p := propose(t, schema(questions))
	former := decided(p)
	for _, name := range []string{"asides", "boats", "dunes", "caves", "crags"} {
		included := propose(t, schema(questions), scaffold.Options{Include: []string{name}})
		updated, err := scaffold.Update(t.Context(), memory.NewSchema(schema(questions)), former,
			scaffold.Options{Include: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		isTable := func(table datamap.Table) bool { return table.Name == name }
		if !slices.ContainsFunc(included.Tables, isTable) || !slices.ContainsFunc(updated.Tables, isTable) {
			t.Errorf("%s is not in the data map", name)
		}
	}
}

// One answer must fit each table of a question.
func TestQuestionsAboutUnlikeTablesStayApart(t *testing.T) {
	p := propose(t, schema(users+`
		answers: id*, title
		topics: id*, title
		guests_of_honor: id*, phone
		speakers_of_day: id*, phone
		halls: id*, street, latitude:number`))
	for _, want := range []string{
		"Tables answers (title), topics (title)", "Tables guests_of_honor (phone), speakers_of_day (phone)",
	} {
		if len(p.questionsAbout("users", want)) != 1 {
			t.Errorf("no question %q in %v", want, p.Decisions)
		}
	}
	if len(p.questionsAbout("halls", "Whose rows")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
	p = propose(t, schema(users+`
		goods_events: id*, user_id>users, sort:enum(a|b)
		place_events: id*, user_id>users, sort:enum(a|b)
		webhooks: id*, user_id>users, size:integer
		products: id*, user_id>users, size:integer`))
	for _, want := range []string{
		"Tables goods_events (user_id), place_events (user_id)", "Tables products (user_id), webhooks (user_id)",
	} {
		if len(p.questionsAbout("users", want)) != 1 {
			t.Errorf("no question %q in %v", want, p.Decisions)
		}
	}
}
