package scaffold_test

import (
	"slices"
	"strings"
	"testing"
)

func TestManyTablesOfMakersAreOneQuestion(t *testing.T) {
	lines := users + `
		brands: id*, created_by:bigint>users, title
		colors: id*, created_by:bigint>users, updated_by?:bigint>users
		depots: id*, approved_by:bigint?>users, size:integer
		fonts: id*, created_by:bigint>users`
	others := `
		bookmarks: id*, created_by:bigint>users, title
		cards: id*, created_by:bigint>users, phone
		gifts: id*, created_by:bigint>users=cascade
		parcels: id*, created_by:bigint>users, user_id?>users=set_null
		plants: id*, created_by:bigint>users, owner_id, owner_kind`
	p := propose(t, schema(lines+others))
	asked := p.questionsAbout("users", "Tables brands, colors, depots, fonts: Their rows only say")
	if len(asked) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
	for _, table := range []string{"brands", "colors", "depots", "fonts"} {
		if slices.Contains(p.asked(), table) {
			t.Errorf("asked about %s, too", table)
		}
	}
	for _, table := range []string{"bookmarks", "cards", "gifts", "parcels", "plants.owner_id"} {
		if !slices.Contains(p.asked(), table) {
			t.Errorf("not asked about %s, but about %v", table, p.asked())
		}
	}
	p = propose(t, schema(lines[:strings.Index(lines, "depots")]))
	if !slices.Contains(p.asked(), "brands") || len(p.questionsAbout("users", "made or changed")) != 0 {
		t.Errorf("two tables: asked %v", p.Decisions)
	}
}

func TestManyTablesWithoutAKeyAreOneQuestion(t *testing.T) {
	lines := users + "\na: phone\nb: user_id>users"
	for further, want := range map[string]int{"": 0, "\nc: phone\nd: email": 1} {
		p := propose(t, schema(lines+further))
		if len(p.questionsAbout("users", "Tables a, b, c, d: They have no key of NOT NULL columns")) != want ||
			slices.Contains(p.asked(), "a") != (want == 0) {
			t.Errorf("%q: asked %v", further, p.Decisions)
		}
	}
}

func TestEqualQuestionsAboutColumnsAreOne(t *testing.T) {
	p := propose(t, schema("users: id*, email, traits:json, extras:json, locale, zone:json, language"))
	var got []string
	for _, d := range p.Decisions {
		got = append(got, strings.Join(d.Columns(), " "))
	}
	wantLines(t, got, `
		traits extras zone
		locale language
	`)
	note := p.column(t, "users.traits").Note
	if !strings.Contains(note, "DECIDE: Columns traits, extras, zone: Do its JSON") {
		t.Errorf("the note is %q", note)
	}
	if note := p.column(t, "users.extras").Note; note != "" {
		t.Errorf("the note of a further column is %q", note)
	}
}

func TestAQuestionWithoutAnEffectIsNotAsked(t *testing.T) {
	p := propose(t, schema(users+`
		posts: id*, user_id>users, parent_id?>posts, body
		post_sizes: id*, post_id>posts, size:integer
		post_titles: id*, post_id>posts, headline
		hits: id*, taggable_id, taggable_type
		views: id*, target_id, target_type
		roles: user_role_id*, user_id>users`))
	for place, want := range map[string]bool{
		"post_sizes": false, "post_titles": true, "hits.taggable_id": false, "views.target_id": true,
		"roles.user_role_id": false,
	} {
		if slices.Contains(p.asked(), place) != want {
			t.Errorf("%s: asked %v", place, p.asked())
		}
	}
	catalog := schema("users: id*, first_name, full_name")
	catalog.Tables[0].Columns[2].Generated, catalog.Tables[0].Columns[2].Expression = true, "(first_name || 'x'::text)"
	if p := propose(t, catalog); len(p.Decisions) != 0 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// The owner of a team owns neither its rooms nor its halls.
func TestTablesOfMakersInThingsAreAsked(t *testing.T) {
	lines := users + `
		teams: id*, name, owner_id>users
		rooms: id*, team_id>teams, created_by:bigint>users, color
		hinges: id*, team_id>teams, color`
	p := propose(t, schema(lines))
	if len(p.questionsAbout("rooms", "by team_id, and by created_by")) != 1 || slices.Contains(p.asked(), "hinges") {
		t.Errorf("asked %v", p.Decisions)
	}
	p = propose(t, schema(lines+`
		halls: id*, team_id>teams, author_id>users, color
		doors: id*, team_id>teams, updated_by:bigint>users, color`))
	if len(p.questionsAbout("users", "Tables doors, rooms: Their rows only say")) != 0 ||
		len(p.questionsAbout("halls", "by author_id")) != 1 {
		t.Errorf("with an author, asked %v", p.Decisions)
	}
	p = propose(t, schema(lines+`
		halls: id*, team_id>teams, updated_by:bigint>users, color
		doors: id*, team_id>teams, updated_by:bigint>users, color`))
	if len(p.questionsAbout("users", "Tables doors, halls, rooms: Their rows only say")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestManyTablesInThingsAreOneQuestion(t *testing.T) {
	lines := users + `
		papers: id*, created_by:bigint>users, updated_by?:bigint>users, color
		paper_comments: id*, paper_id>papers=cascade, body
		paper_notes: id*, paper_id>papers, note
		paper_hinges: id*, paper_id>papers=cascade, label
		courses: id*, owner_id>users, color
		course_places: id*, course_id>courses=cascade, label
		user_courses: id*, course_id>courses, color`
	p := propose(t, schema(lines))
	for place, want := range map[string]bool{
		"paper_comments": true, "paper_notes": true, "paper_hinges": false, "course_places": false, "user_courses": true,
	} {
		if slices.Contains(p.asked(), place) != want {
			t.Errorf("asked %v", p.Decisions)
		}
	}
	p = propose(t, schema(lines+"\nuser_hours: id*, course_id>courses\nuser_marks: id*, course_id>courses"))
	if len(p.questionsAbout("users", "made or changed")) != 0 {
		t.Errorf("asked %v", p.Decisions)
	}
	p = propose(t, schema(lines+"\npaper_files: id*, paper_id>papers, comment"))
	if len(p.questionsAbout("users", "paper_comments (body), paper_files (comment), paper_notes (note): These")) != 1 ||
		slices.Contains(p.asked(), "paper_notes") {
		t.Errorf("asked %v", p.Decisions)
	}
}
