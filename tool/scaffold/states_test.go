package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// withDefault returns the catalog with a constant default of the last column of the last table.
func withDefault(catalog datamap.Catalog, initial string) datamap.Catalog {
	columns := catalog.Tables[len(catalog.Tables)-1].Columns
	columns[len(columns)-1].Default, columns[len(columns)-1].Initial = true, initial
	return catalog
}

func TestAStatusIsNoPartOfAnAddress(t *testing.T) {
	for name, test := range map[string]struct {
		line, initial, check string
		want                 bool
	}{
		"a default":                        {"users: id*, email, city, state", "ok", "", false},
		"a default of an address":          {"users: id*, email, city, state", "CA", "", true},
		"an empty default":                 {"users: id*, email, city, state", "", "", true},
		"a list":                           {"users: id*, email, city, state", "", "state IN ('a', 'b')", false},
		"labels":                           {"users: id*, email, city, state:enum(a|b)", "", "", false},
		"a number":                         {"users: id*, email, city, state:integer", "", "", false},
		"a document":                       {"users: id*, email, city, state:json", "", "", false},
		"no other part of an address":      {"users: id*, email, state", "", "", false},
		"another part of an address later": {"users: id*, email, zip, state", "", "", true},
	} {
		catalog := withDefault(schema(test.line), test.initial)
		if test.check != "" {
			catalog.Tables[0].Checks = []datamap.CatalogCheck{{Name: "one", Columns: []string{"state"}, Text: test.check}}
		}
		if c := propose(t, catalog).column(t, "users.state"); (c.Personal != nil) != test.want {
			t.Errorf("%s: %+v", name, c.Personal)
		}
	}
	p := propose(t, schema("users: id*, email, city, state:json"))
	if !slices.Contains(p.asked(), "users.state") {
		t.Errorf("a document: asked %v", p.Decisions)
	}
}

func TestAFlagIsNoAddress(t *testing.T) {
	for initial, want := range map[string]bool{"false": false, "No": false, "0": false, "": true, "none": true} {
		p := propose(t, withDefault(schema("users: id*, login!, confirmedemail"), initial))
		c := p.column(t, "users.confirmedemail")
		if (c.Personal != nil) != want || len(p.questionsAbout("users", "texts")) > 0 {
			t.Errorf("%q: %+v, asked %v", initial, c.Personal, p.Decisions)
		}
	}
	p := propose(t, withDefault(schema("users: id*, login!, has_disability"), "no"))
	if c := p.column(t, "users.has_disability"); c.Surrogate != "no" {
		t.Errorf("the surrogate of a flag is %q", c.Surrogate)
	}
}

func TestARenderedTextIsTreatedLikeItsSource(t *testing.T) {
	for column, want := range map[string]bool{
		"render": true, "rendered": true, "html": true, "rendered_html": true, "cooked": true,
		"renderer": false, "render_url": false, "rendered:boolean": false, "rendered:enum(a|b)": false,
	} {
		name, _, _ := strings.Cut(column, ":")
		for table, text := range map[string]string{"notes": "content", "tickets": "body", "gists": "comment"} {
			lines := users + table + `: id*, user_id>users, parent_id?>` + table + ", " + text + ", " + column
			p := propose(t, schema(lines), scaffold.Options{Include: []string{table}})
			source, copied := p.column(t, table+"."+text).Personal, p.column(t, table+"."+name).Personal
			if source == nil || (copied != nil) != want || copied != nil && copied.Strategy != source.Strategy {
				t.Errorf("%s: %s: %+v", table, column, copied)
			}
		}
	}
	p := propose(t, schema(users+"pages: id*, user_id>users, size:integer, rendered"))
	if c, mapped := p.dataMap.Table("pages"); mapped && len(c.Personal()) > 0 {
		t.Errorf("without a source: %+v", c)
	}
}

func TestInstantsInTextsStayInstants(t *testing.T) {
	for column, want := range map[string]string{
		"last_login_at": "1970-01-01T00:00:00Z", "last_login": "1970-01-01T00:00:00Z", "lastSeen": "1970-01-01T00:00:00Z",
		"birth_date": "1970-01-01", "birthday": "1970-01-01", "last_seen_at:text(19)": "1970-01-01 00:00:00",
		"last_login:text(10)": "1970-01-01", "last_login_at:text(5)": "''", "last_login_at:bigint": "",
		"phone_confirmed_at": "-", "login_time": "-", "phone_checked_at:bigint": "-", "reset_password_date": "-",
	} {
		name, _, _ := strings.Cut(column, ":")
		p := propose(t, schema("users: id*, "+column+", first_name"))
		c := p.column(t, "users."+name)
		got := c.Surrogate
		if c.Personal == nil {
			got = "-"
		}
		isAsked := len(p.questionsAbout("users", "as instants ("+name+")")) == 1
		if got != want || isAsked != strings.HasPrefix(want, "1970") || c.Personal != nil && c.Unique() {
			t.Errorf("%s: the surrogate is %q, asked %v", column, got, p.Decisions)
		}
	}
	p := propose(t, schema("users: id*, email\nsessions: id*, user_id>users=cascade, last_seen_at"))
	if len(p.questionsAbout("sessions", "instants")) != 0 {
		t.Errorf("deleted rows: asked %v", p.Decisions)
	}
}

func TestDocumentsOfDeletedRowsAreAsked(t *testing.T) {
	for line, want := range map[string]bool{
		"user_state: id*, user_id>users, state:json":              true,
		"game_data: id*, user_id>users, data:json":                true,
		"user_settings: user_id*>users, settings:json":            true,
		"user_settings: user_id*>users, value":                    true,
		"user_settings: user_id*>users, value:text(20)":           false,
		"user_settings: user_id*>users, size:integer":             false,
		"sessions: id*, user_id>users, ip, sizes:json":            false,
		"user_states: id*, user_id>users=cascade, size:integer":   false,
		"country_states: id*, name, state:enum(a|b)":              false,
		"user_state: id*, user_id>users=cascade, state:enum(a|b)": false,
	} {
		p := propose(t, schema(users+line))
		table, rest, _ := strings.Cut(line, ":")
		column := strings.TrimSpace(rest[strings.LastIndex(rest, ",")+1:])
		column, _, _ = strings.Cut(column, ":")
		if _, mapped := p.dataMap.Table(table); want && !mapped {
			t.Errorf("%s is left out", table)
		}
		if got := slices.Contains(p.asked(), table+"."+column); got != want {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
	p := propose(t, schema(users+"editor_state: id*, state:json"))
	if len(p.questionsAbout("users", "editor_state.state")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// A trigger that deletes the answers to a deleted comment deletes those of other people.
func TestRowsWhoseTriggerDeletesFurtherRowsStay(t *testing.T) {
	for deletes, want := range map[string]string{
		"comments": "anonymize comments", "boards": "anonymize comments", "others": "anonymize comments",
		"marks": "delete comments", "words": "delete comments", "": "delete comments",
	} {
		catalog := schema(users + `
			comments: id*, user_id>users, body
			boards: id*, title
			marks: id*, comment_id>comments=cascade, size:integer
			words: body`)
		catalog.Tables[4].Kind = datamap.KindVirtual
		if deletes != "" {
			catalog.Tables[1].Triggers = []datamap.CatalogTrigger{{
				Name: "keep", Events: []string{"DELETE"}, Deletes: []string{deletes},
			}}
		}
		p := propose(t, catalog)
		if !slices.ContainsFunc(p.steps(), func(step string) bool { return strings.HasPrefix(step, want) }) {
			t.Errorf("%s: the steps are %v", deletes, p.steps())
		}
	}
}

func TestRowsWhoseTriggerDeletesRowsAtAnUpdateAreLeft(t *testing.T) {
	for deletes, want := range map[string]bool{"comments": false, "notes": false, "boards": true, "others": true} {
		catalog := schema(users + `
			comments: id*, user_id>users, parent_id?>comments, body
			notes: id*, user_id>users, size:integer
			boards: id*, title`)
		catalog.Tables[1].Triggers = []datamap.CatalogTrigger{{
			Name: "keep", Events: []string{"UPDATE"}, Deletes: []string{deletes},
		}}
		p := propose(t, catalog)
		if _, mapped := p.dataMap.Table("comments"); mapped != want || !want && !slices.Contains(p.asked(), "comments") {
			t.Errorf("%s: the steps are %v, asked %v", deletes, p.steps(), p.asked())
		}
	}
}

func TestAStatusBesideAnAddressStays(t *testing.T) {
	p := propose(t, schema("users: id*, email, street, city, billing_state, subscription_state"))
	wantLines(t, p.steps(), "anonymize users email street city billing_state")
}
