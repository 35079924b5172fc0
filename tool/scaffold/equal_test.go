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

// questions has four tables with each question that foldEqual folds.
const questions = users + `
	likes: id*, user_id>users=cascade, at:time
	pins: id*, user_id>users=cascade, at:time
	seen: id*, user_id>users=cascade, at:time
	stars: id*, user_id>users=cascade, at:time
	asides: id*, user_id>users=set_null, tint
	boats: id*, user_id>users=set_null, tint
	caves: id*, user_id?>users, name, depth:number
	sizes: cave_id>caves, size:integer
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
		"Tables asides (user_id), boats (user_id), caves (user_id), dunes (user_id): Their rows lead to a person by",
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

func TestEqualQuestionsAboutThreeTablesStay(t *testing.T) {
	lines := slices.DeleteFunc(strings.Split(questions, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		return slices.Contains([]string{"stars", "dunes", "hills", "lakes"}, name)
	})
	asked := propose(t, schema(strings.Join(lines, "\n"))).asked()
	for _, place := range []string{"likes", "asides", "early", "ideas.item_id"} {
		if !slices.Contains(asked, place) {
			t.Errorf("%s is not asked about: %v", place, asked)
		}
	}
}

// A question about many tables would be lost, because Update returns only the questions about what is new.
func TestUpdateAsksAboutEachTable(t *testing.T) {
	p := propose(t, schema(questions))
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
	catalog := schema(questions + "\n\tnew_boats: id*, user_id>users=set_null, tint\n" +
		"waves: id*, user_id>users=cascade, at:time")
	updated, err := scaffold.Update(t.Context(), memory.NewSchema(catalog), former, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new_boats", "waves"} {
		if !slices.ContainsFunc(updated.Decisions, func(d scaffold.Decision) bool { return d.Table == name }) {
			t.Errorf("no question about %s in %v", name, updated.Decisions)
		}
	}
}
