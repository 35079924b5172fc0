package erasure_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// byPath returns a relation that begins a path, with a strategy of its own.
func byPath(name, column, references string, strategy domain.Strategy) datamap.Relation {
	return datamap.Relation{
		Name: name, Columns: []string{column}, References: references, ReferencedColumns: []string{"id"},
		Path: true, OnErasure: strategy,
	}
}

// posts returns a table whose rows have an author, and a person whom the author answers.
func posts(author, answered domain.Strategy, columns ...datamap.Column) datamap.Table {
	return datamap.Table{
		Name: "posts", PrimaryKey: []string{"id"},
		Columns: append([]datamap.Column{plain("id"), plain("author_id"), plain("answers_id")}, columns...),
		Relations: []datamap.Relation{
			byPath("Author", "author_id", "users", author), byPath("Answered", "answers_id", "users", answered),
		},
	}
}

// likes returns a link table between posts and the people who like them.
func likes(ofPost domain.Strategy) datamap.Table {
	return datamap.Table{
		Name: "likes", PrimaryKey: []string{"id"},
		Columns:   []datamap.Column{plain("id"), plain("post_id"), plain("liker_id")},
		Relations: []datamap.Relation{byPath("Post", "post_id", "posts", ofPost), byPath("Liker", "liker_id", "users", del)},
	}
}

// A like belongs to the person who likes, and goes with the post. If the post stays because the erased person is only
// the one whom the author answers, the likes of other people stay.
func TestAnErasureDoesNotReachRowsThroughARowThatStays(t *testing.T) {
	deeper := func(like domain.Strategy) datamap.Table { // a notice about a like
		return datamap.Table{
			Name: "alerts", PrimaryKey: []string{"id"},
			Columns:   []datamap.Column{plain("id"), plain("like_id"), plain("reader_id")},
			Relations: []datamap.Relation{byPath("Like", "like_id", "likes", like), byPath("Reader", "reader_id", "users", del)},
		}
	}
	ofOrder := func(relation datamap.Relation, kind string) datamap.Relation {
		relation.When = &datamap.Condition{Column: "kind", Value: kind}
		return relation
	}
	orders := func(columns ...datamap.Column) datamap.Table {
		return child("orders", "users", append(columns, plain("at"))...)
	}
	for name, c := range map[string]struct {
		tables []datamap.Table
		want   string
	}{
		"deleted with the post only": {
			[]datamap.Table{posts(del, ""), likes(del)},
			"likes:delete@Post.Author likes:delete@Liker posts:delete@Author",
		},
		"cleared with the post only": {
			[]datamap.Table{posts(del, ""), likes(clear)},
			"likes:delete@Liker likes:anonymize-post_id@Post.Author posts:delete@Author",
		},
		"the post is deleted on both paths": {
			[]datamap.Table{posts(del, del), likes(del)},
			"likes:delete@Post.Author likes:delete@Post.Answered likes:delete@Liker posts:delete@Author posts:delete@Answered",
		},
		"the post lets go of the answered person": {
			[]datamap.Table{posts(del, clear), likes(del)},
			"likes:delete@Post.Author likes:delete@Liker posts:delete@Author posts:anonymize-answers_id@Answered",
		},
		"the post stays on both paths": {
			[]datamap.Table{posts("", "", via(personal("body", anon), "Author")), likes(del)},
			"likes:delete@Liker posts:anonymize(body)@Author",
		},
		"the post is owned by its author": {
			[]datamap.Table{owned(posts("", "", via(personal("body", ""), "Author"))), likes(del)},
			"likes:delete@Post.Author likes:delete@Liker posts:delete@Author",
		},
		"two hops": {
			[]datamap.Table{posts(del, ""), likes(del), deeper(del)},
			"alerts:delete@Like.Post.Author alerts:delete@Like.Liker alerts:delete@Reader" +
				" likes:delete@Post.Author likes:delete@Liker posts:delete@Author",
		},
		"a line of an order that stays, which belongs to nobody else": {
			[]datamap.Table{
				orders(personal("note", anon)),
				change(child("lines", "orders", plain("text")), func(l *datamap.Table) { l.Relations[0].OnErasure = del }),
			},
			"lines:delete orders:anonymize(note)",
		},
		"a row of one person by its conditions": {
			[]datamap.Table{orders(personal("note", anon)), {
				Name: "remarks", PrimaryKey: []string{"id"},
				Columns: []datamap.Column{plain("id"), plain("target"), plain("kind")},
				Relations: []datamap.Relation{
					ofOrder(byPath("Person", "target", "users", del), "person"),
					ofOrder(byPath("Order", "target", "orders", del), "order"),
				},
			}},
			"orders:anonymize(note) remarks:delete@Person remarks:delete@Order",
		},
		"a comment of another person on an order that stays": {
			[]datamap.Table{orders(personal("note", anon)), {
				Name: "remarks", PrimaryKey: []string{"id"},
				Columns: []datamap.Column{plain("id"), plain("order_id"), plain("person_id")},
				Relations: []datamap.Relation{
					byPath("Order", "order_id", "orders", del), byPath("Person", "person_id", "users", ""),
				},
			}},
			"orders:anonymize(note)",
		},
	} {
		want := c.want + " users:anonymize(email)"
		planned, err := planFor(t, nil, append(c.tables, users(personal("email", anon)))...)
		got := strings.Fields(printedVia(planned.Steps))
		if err != nil || !sameWords(got, strings.Fields(want)) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
}

// sameWords reports whether two lists have the same elements. The order of tables that do not refer to each other does
// not matter here.
func sameWords(a, b []string) bool {
	count := map[string]int{}
	for _, word := range a {
		count[word]++
	}
	for _, word := range b {
		count[word]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// A table without annotated columns names the paths on which an erasure deletes its rows.
func TestAnOwnedTableNamesThePathsThatDeleteItsRows(t *testing.T) {
	links := func(via string) datamap.Table {
		table := owned(likes(""))
		table.Via, table.Relations[1].OnErasure = via, ""
		return table
	}
	for via, want := range map[string]string{
		"Liker":               "likes:delete@Liker posts:delete@Author",
		"Liker, Post.Author":  "likes:delete@Post.Author likes:delete@Liker posts:delete@Author",
		"Post,Liker":          "likes:delete@Post.Author likes:delete@Liker posts:delete@Author",
		"Post.Author":         "likes:delete@Post.Author posts:delete@Author",
		"Liker,Post.Answered": "",
	} {
		planned, err := planFor(t, nil, posts(del, ""), links(via), users(personal("email", anon)))
		got := strings.TrimSuffix(printedVia(planned.Steps), " users:anonymize(email)")
		switch {
		case via == "Liker" || want == "": // the rows on the path of the author would refer to deleted posts
			if err == nil || !strings.Contains(err.Error(), "likes: its rows survive an erasure, but the rows of posts") {
				t.Errorf("via %s: got %v", via, err)
			}
		case err != nil || got != want:
			t.Errorf("via %s: got %q, %v, want %q", via, got, err, want)
		}
	}
	planned, err := planFor(t, nil, posts("", "", via(personal("body", anon), "Author")), links("Liker"),
		users(personal("email", anon)))
	if got := printedVia(planned.Steps); err != nil || !strings.Contains(got, "likes:delete@Liker") ||
		strings.Contains(got, "Post") {
		t.Errorf("got %q, %v", got, err)
	}
}

// answering returns a table of messages that refer to the messages that they answer.
func answering(strategy domain.Strategy, message datamap.Table) datamap.Table {
	message.Columns = append(message.Columns, plain("answers_id"))
	message.Relations = append(message.Relations, datamap.Relation{
		Columns: []string{"answers_id"}, References: message.Name, ReferencedColumns: []string{"id"}, OnErasure: strategy,
	})
	return message
}

func TestAReferenceOfATableToItselfIsClearedBeforeTheRowsGo(t *testing.T) {
	for name, c := range map[string]struct {
		table datamap.Table
		want  string
	}{
		"one path": {
			answering(clear, child("messages", "users", personal("body", ""))),
			"messages:anonymize-answers_id! messages:delete",
		},
		"one of two paths": {
			answering(clear, about(del, "", via(personal("note", anon), "Recipient"))),
			"messages:anonymize-answers_id! messages:delete@Sender messages:anonymize(note)@Recipient",
		},
		"rows that stay": {
			answering(clear, child("messages", "users", personal("body", anon))), "messages:anonymize(body)",
		},
		"without the option": {answering("", child("messages", "users", personal("body", ""))), "messages:delete"},
	} {
		planned, err := planFor(t, nil, c.table, users(personal("email", anon)))
		var got []string
		for _, step := range planned.Steps {
			text := printedVia([]datamap.Step{step})
			if step.Self {
				text += "!"
			}
			got = append(got, text)
		}
		want := c.want + " users:anonymize(email)"
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
			continue
		}
		m := fixture.MustMap(t, c.table, users(personal("email", anon)))
		if failing, err := plan.CheckSteps(m, plan.LocalAt(planned, noon)); err != nil {
			t.Errorf("%s: the step %d is refused: %v", name, failing, err)
		}
	}
}

func TestWrongStepsThatClearAReferenceOfATableToItselfAreRefused(t *testing.T) {
	m := fixture.MustMap(t, users(), answering(clear, child("messages", "users", personal("body", ""))))
	self := datamap.Step{Target: "messages", Strategy: anon, ClearedColumns: []string{"answers_id"}, Self: true}
	deletes := datamap.Step{Target: "messages", Strategy: del}
	with := func(change func(*datamap.Step)) []datamap.Step {
		step := self
		change(&step)
		return []datamap.Step{step}
	}
	for says, steps := range map[string][]datamap.Step{
		"comes after a step that deletes":        {deletes, self},
		"two steps affect the same rows":         {self, self},
		"not a reference of the table to itself": with(func(s *datamap.Step) { s.ClearedColumns = []string{"users_id"} }),
		"messages: a step with Self does more":   with(func(s *datamap.Step) { s.Columns = []string{"body"} }),
		"a step with Self does more than":        with(func(s *datamap.Step) { s.Strategy = del }),
		"must keep its value":                    with(func(s *datamap.Step) { s.Self = false }),
	} {
		_, err := plan.CheckSteps(m, steps)
		wantCode(t, err, domain.ErrManifest)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, which does not say %q", err, says)
		}
	}
	if _, err := plan.CheckSteps(m, []datamap.Step{self, deletes}); err != nil {
		t.Error(err)
	}
}

// The rows of comments and of posts are deleted. A comment of one person may refer to a post of another person.
func TestARelationToDeletedRowsMustBeDecided(t *testing.T) {
	comments := func(adjust func(*datamap.Table)) datamap.Table {
		return change(child("comments", "users", personal("body", ""), plain("post_id")), func(c *datamap.Table) {
			c.Relations[0].Path = true
			c.Relations = append(c.Relations, datamap.Relation{
				Name: "Post", Columns: []string{"post_id"}, References: "posts", ReferencedColumns: []string{"id"},
			})
			adjust(c)
		})
	}
	deleted := child("posts", "users", personal("body", ""))
	for name, c := range map[string]struct {
		comments, posts datamap.Table
		says            string // empty if it is accepted
	}{
		"undecided": {comments(func(*datamap.Table) {}), deleted, "comments.post_id: refers to posts by the relation Post"},
		"the posts stay": {
			comments(func(*datamap.Table) {}), child("posts", "users", personal("body", anon)), "",
		},
		"ON DELETE SET NULL": {comments(func(c *datamap.Table) { c.Relations[1].SetsNull = true }), deleted, ""},
		"ON DELETE SET NULL of a column of the path": {
			comments(func(c *datamap.Table) {
				c.Relations[1].SetsNull = true
				c.Relations[1].Columns, c.Relations[1].ReferencedColumns = []string{"post_id", "users_id"}, []string{"id", "body"}
			}), deleted, "comments.users_id: must keep its value",
		},
		"a condition": {
			comments(func(c *datamap.Table) {
				c.Columns = append(c.Columns, plain("kind"))
				c.Relations[1].When = &datamap.Condition{Column: "kind", Value: "post"}
			}), deleted, "",
		},
		"a path that deletes": {
			comments(func(c *datamap.Table) {
				c.Relations[0].OnErasure, c.Relations[1].Path, c.Relations[1].OnErasure = del, true, del
				c.Columns[2].Personal.Via = "users"
			}), deleted, "",
		},
		"the same person": {
			comments(func(c *datamap.Table) {
				c.Relations[1].Columns = []string{"users_id", "post_id"}
				c.Relations[1].ReferencedColumns = []string{"users_id", "id"}
			}), deleted, "",
		},
		"the same person by a statement": {
			comments(func(c *datamap.Table) { c.Relations[1].SamePerson = true }), deleted, "",
		},
		"the same column, but another person": {
			comments(func(c *datamap.Table) {
				c.Relations[1].Columns = []string{"users_id", "post_id"}
				c.Relations[1].ReferencedColumns = []string{"id", "users_id"}
			}), deleted, "comments.users_id, post_id: refers to posts",
		},
	} {
		_, err := planFor(t, nil, users(personal("email", anon)), c.posts, c.comments)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		wantCode(t, err, domain.ErrManifest)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, which does not say %q", name, err, c.says)
		}
	}
	m := fixture.MustMap(t, users(personal("email", anon)), deleted, comments(func(*datamap.Table) {}))
	_, err := erasure.Planner{}.Plan(m, nil)
	for _, remedy := range []string{"subject:\"path,erasure:delete\"", "subject:\"path,erasure:null\"", "SET NULL"} {
		if !strings.Contains(err.Error(), remedy) {
			t.Errorf("got %v, which does not name %s", err, remedy)
		}
	}
}
