package erasure_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

const clear = domain.StrategyNull

// about returns a table with two paths to the subject, because each row concerns a sender and a recipient. The
// parameters sender and recipient are the strategies of the paths.
func about(sender, recipient domain.Strategy, columns ...datamap.Column) datamap.Table {
	relation := func(name, column string, erasure domain.Strategy) datamap.Relation {
		return datamap.Relation{
			Name: name, Columns: []string{column}, References: "users", ReferencedColumns: []string{"id"},
			Path: true, OnErasure: erasure,
		}
	}
	return datamap.Table{
		Name: "messages", PrimaryKey: []string{"id"},
		Columns: append([]datamap.Column{plain("id"), plain("sender_id"), plain("recipient_id")}, columns...),
		Relations: []datamap.Relation{
			relation("Sender", "sender_id", sender), relation("Recipient", "recipient_id", recipient),
		},
	}
}

func via(column datamap.Column, paths ...string) datamap.Column {
	column.Personal.Via = strings.Join(paths, ",")
	return column
}

// printedVia prints each step with the references that it sets to NULL and with the name of its path. An example is
// "messages:anonymize-sender_id@Sender": sender_id is set to NULL, and the path is Sender.
func printedVia(steps []datamap.Step) string {
	var list []string
	for _, step := range steps {
		text := printed([]datamap.Step{step})
		if len(step.ClearedColumns) > 0 {
			text += "-" + strings.Join(step.ClearedColumns, ",")
		}
		if step.Via != "" {
			text += "@" + step.Via
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func TestATableWithSeveralPathsHasStepsForEach(t *testing.T) {
	body := func() datamap.Column { return via(personal("body", ""), "Sender") }
	note := func(strategy domain.Strategy) datamap.Column { return via(personal("note", strategy), "Recipient") }
	files := func(columns ...datamap.Column) datamap.Table { return child("files", "messages", columns...) }
	for name, c := range map[string]struct {
		tables []datamap.Table
		want   string
	}{
		"nothing annotated": {[]datamap.Table{about("", "")}, ""},
		"a column of each": {
			[]datamap.Table{about("", "", body(), note(anon))},
			"messages:anonymize(body)@Sender messages:anonymize(note)@Recipient",
		},
		"a column of both": {
			[]datamap.Table{about("", "", via(personal("title", anon), "Recipient", "Sender"))},
			"messages:anonymize(title)@Sender messages:anonymize(title)@Recipient",
		},
		"retained for one": {
			[]datamap.Table{about("", "", body(), note(keep))},
			"messages:anonymize(body)@Sender messages:retain(note)@Recipient",
		},
		"the row goes with one": {
			[]datamap.Table{about("", del, body(), note(del))},
			"messages:delete@Recipient messages:anonymize(body)@Sender",
		},
		"the row goes with each": {
			[]datamap.Table{about(del, del, plain("since"))},
			"messages:delete@Sender messages:delete@Recipient",
		},
		"the reference is cleared": {
			[]datamap.Table{about(del, clear, body(), note(anon))},
			"messages:delete@Sender messages:anonymize(note)-recipient_id@Recipient",
		},
		"nothing but the reference": {
			[]datamap.Table{about(clear, "")}, "messages:anonymize-sender_id@Sender",
		},
		"owned, and all of it one person's": {
			[]datamap.Table{owned(about("", "", body(), plain("at")))}, "messages:delete@Sender",
		},
		"owned, but one is anonymized": {
			[]datamap.Table{owned(about("", "", via(personal("body", anon), "Sender")))}, "messages:anonymize(body)@Sender",
		},
		"a table below it": {
			[]datamap.Table{about("", ""), files(via(personal("name", ""), "Sender"), via(personal("seen", anon), "Recipient"))},
			"files:anonymize(name)@Sender files:anonymize(seen)@Recipient",
		},
		"a table whose rows go with those above it": {
			[]datamap.Table{about(del, ""), owned(files(via(personal("name", del), "Sender"), plain("size")))},
			"files:delete@Sender messages:delete@Sender",
		},
		"a table whose rows are deleted along all paths": {
			[]datamap.Table{about(del, del), change(files(plain("size")), func(f *datamap.Table) {
				f.Relations[0].OnErasure = del
			})},
			"files:delete@Sender files:delete@Recipient messages:delete@Sender messages:delete@Recipient",
		},
		"a table that lets go of rows that go": {
			[]datamap.Table{about(del, ""), change(files(via(personal("name", anon), "Sender")), func(f *datamap.Table) {
				f.Relations[0].OnErasure = clear
			})},
			"files:anonymize(name)@Sender files:anonymize-messages_id@Sender messages:delete@Sender",
		},
	} {
		want := strings.TrimSpace(c.want + " users:anonymize(email)")
		planned, err := planFor(t, nil, append(c.tables, users(personal("email", anon)))...)
		if got := printedVia(planned.Steps); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
			continue
		}
		m := fixture.MustMap(t, append(c.tables, users(personal("email", anon)))...)
		if failing, err := plan.CheckSteps(m, plan.LocalAt(planned, noon)); err != nil {
			t.Errorf("%s: the step %d is refused: %v", name, failing, err)
		}
	}
}

func TestTheOnlyPathOfATableMayHaveAStrategy(t *testing.T) {
	for name, c := range map[string]struct {
		erasure domain.Strategy
		users   datamap.Table
		columns []datamap.Column
		want    string
	}{
		"delete": {
			del, users(personal("email", anon)),
			[]datamap.Column{plain("at")},
			"orders:delete users:anonymize(email)",
		},
		"null": {
			clear, users(personal("email", anon)),
			[]datamap.Column{personal("note", anon), plain("at")},
			"orders:anonymize(note)-users_id users:anonymize(email)",
		},
		"null, under rows that go": {
			clear, users(personal("email", del)),
			[]datamap.Column{personal("note", anon), plain("at")},
			"orders:anonymize(note)-users_id users:delete",
		},
		"null, where all says erase": {
			clear, users(personal("email", del)),
			[]datamap.Column{personal("note", "")},
			"orders:anonymize(note)-users_id users:delete",
		},
	} {
		orders := child("orders", "users", c.columns...)
		orders.Relations[0].OnErasure = c.erasure
		planned, err := planFor(t, nil, c.users, orders)
		if got := printedVia(planned.Steps); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
}

func TestPathsThatAnErasureCannotFollowAreRefused(t *testing.T) {
	files := func(column datamap.Column) datamap.Table { return child("files", "messages", column) }
	for name, c := range map[string]struct {
		tables []datamap.Table
		code   domain.Code
		says   string
	}{
		"a row that goes with one and is retained for the other": {
			[]datamap.Table{about(del, "", via(personal("note", keep), "Recipient"))},
			domain.ErrRetention, "messages.note: is retained, but the path Sender deletes its row",
		},
		"a row that goes with a column that is anonymized": {
			[]datamap.Table{about(del, "", via(personal("body", anon), "Sender"))},
			domain.ErrManifest, "messages.body: has a strategy that keeps its row, but the path Sender deletes its row",
		},
		"a way to what is retained that is cut": {
			[]datamap.Table{about(clear, "", via(personal("note", keep), "Sender"))},
			domain.ErrRetention, "messages.note: is retained, but the path Sender is set to NULL",
		},
		"a way that is cut further on": {
			[]datamap.Table{about(clear, ""), files(via(personal("name", keep), "Sender"))},
			domain.ErrRetention, "files.name: is retained, but the path Sender is set to NULL",
		},
		"rows that stay below rows that go": {
			[]datamap.Table{about(del, ""), files(via(personal("name", anon), "Sender"))},
			domain.ErrManifest, "files: its rows survive an erasure, but the rows of messages",
		},
		"rows that nothing but their path keeps": {
			[]datamap.Table{about(del, ""), files(via(personal("name", ""), "Sender"))},
			domain.ErrManifest, `are deleted; found "Sender, Recipient"; delete the rows of files as well,` +
				" or keep the rows of messages: remove erasure:delete from their path",
		},
		"rows that are retained along another path": {
			[]datamap.Table{about(del, ""), change(child("files", "messages", via(personal("name", ""), "Message"),
				via(personal("vat", keep), "Owner"), plain("owner_id")), func(f *datamap.Table) {
				f.Relations[0].Path, f.Relations[0].Name = true, "Message"
				f.Relations = append(f.Relations, datamap.Relation{
					Name: "Owner", Columns: []string{"owner_id"}, References: "users", ReferencedColumns: []string{"id"},
					Path: true,
				})
			})},
			domain.ErrManifest, "files: its rows survive an erasure, but the rows of messages, on its path",
		},
		"rows that go along one path of two that do": {
			[]datamap.Table{about(del, del), owned(files(via(personal("name", ""), "Sender")))},
			domain.ErrManifest, "files: its rows survive an erasure, but the rows of messages",
		},
		"retained below rows that go": {
			[]datamap.Table{about("", del), files(via(personal("name", keep), "Sender"))},
			domain.ErrRetention, "files.name: is retained, but the rows of messages",
		},
		"rows of another path that refer to rows that go": {
			[]datamap.Table{about(del, ""), change(child("files", "users", plain("messages_id")), func(f *datamap.Table) {
				f.Relations[0].Path = true
				f.Relations = append(f.Relations, child("x", "messages").Relations...)
			})},
			domain.ErrManifest, "files: its rows survive an erasure, but the rows of messages, to which it refers",
		},
		"a key that is anonymized": {
			[]datamap.Table{change(about("", ""), func(m *datamap.Table) {
				m.Columns[1] = via(personal("sender_id", anon), "Recipient")
			})},
			domain.ErrManifest, "messages.sender_id: would be anonymized",
		},
	} {
		_, err := planFor(t, nil, append(c.tables, users(personal("email", anon)))...)
		wantCode(t, err, c.code)
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %q, which does not say %q", name, err, c.says)
		}
	}
}

func TestStepsOfOtherPathsAreRefused(t *testing.T) {
	m := fixture.MustMap(t, users(), about("", clear, via(personal("body", ""), "Sender")))
	for says, steps := range map[string][]datamap.Step{
		"names a path":            {{Target: "messages", Strategy: anon, Columns: []string{"body"}}},
		"belongs to another path": {{Target: "messages", Strategy: anon, Via: "Recipient", Columns: []string{"body"}}},
		"that must keep its value": {{
			Target: "messages", Strategy: anon, Via: "Sender", ClearedColumns: []string{"sender_id"},
		}},
		"not have the strategy anonymize": {{
			Target: "messages", Strategy: keep, Via: "Recipient", ClearedColumns: []string{"recipient_id"},
		}},
		"a step has a strategy other": {{Target: "messages", Strategy: clear, Via: "Recipient", Columns: []string{"body"}}},
		"affect the same rows": {
			{Target: "messages", Strategy: anon, Via: "Sender", Columns: []string{"body"}},
			{Target: "messages", Strategy: anon, Via: "Recipient", ClearedColumns: []string{"recipient_id"}},
			{Target: "messages", Strategy: del, Via: "Sender"},
		},
	} {
		failing, err := plan.CheckSteps(m, steps)
		wantCode(t, err, domain.ErrManifest)
		if failing != len(steps)-1 || !strings.Contains(err.Error(), says) {
			t.Errorf("got %d, %v, which does not say %q", failing, err, says)
		}
	}
}

// LocalAt anonymizes a retained cell along the path of its column, even if the plan anonymizes along another path.
func TestRetentionThatEndsIsJudgedAlongItsPath(t *testing.T) {
	bounded := func(name, path string) datamap.Column {
		column := via(personal(name, keep), path)
		column.Personal.Retain, column.Personal.Since = datamap.Period{Years: 10}, "at"
		return column
	}
	m := fixture.MustMap(t, users(), about("", "", via(personal("body", ""), "Sender"),
		bounded("total", "Recipient"), datamap.Column{Name: "at", Type: datamap.TypeTime}))
	planned, err := erasure.Planner{}.Plan(m, nil)
	steps := plan.LocalAt(planned, noon)
	want := "messages:anonymize(body)@Sender messages:anonymize@Recipient messages:retain(total)@Recipient"
	if got := printedVia(steps); err != nil || got != want || len(steps[1].Expired) != 1 || len(steps[0].Expired) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
}

func wantCode(tb testing.TB, err error, code domain.Code) {
	tb.Helper()
	if !errors.Is(err, code) {
		tb.Fatalf("got %v, want an error of the code %q", err, code)
	}
}
