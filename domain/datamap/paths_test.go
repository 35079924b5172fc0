package datamap_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func vias(paths []datamap.Path) string {
	var names []string
	for _, path := range paths {
		names = append(names, path.Via)
	}
	return strings.Join(names, " ")
}

// A message has a sender and a recipient, so the table "messages" has two paths. A table that refers to "messages" has
// these two paths, too. If it also refers to "users" directly, it has three paths.
func TestATableHasTheProductOfItsRelationsAndTheirPaths(t *testing.T) {
	files := child("files", "messages")
	both := child("both", "messages", "users")
	both.Relations[0].Path, both.Relations[0].Name, both.Relations[1].Path = true, "Message", true
	m := mustMap(t, users(), messagesTable(nil), files, both, child("parts", "both"))
	for table, want := range map[string]string{
		"users": "", "messages": "Sender Recipient", "files": "Sender Recipient",
		"both": "Message.Sender Message.Recipient users", "parts": "Message.Sender Message.Recipient users",
	} {
		if got := vias(m.Paths(table)); got != want {
			t.Errorf("the paths of %s are %q, want %q", table, got, want)
		}
	}
	path, ok := m.PathVia("parts", "Message.Recipient")
	var columns []string
	for _, relation := range path.Relations {
		columns = append(columns, relation.Columns...)
	}
	if got := strings.Join(columns, " "); !ok || got != "both_id messages_id recipient_id" {
		t.Errorf("the path goes along %q", got)
	}
	if onward := m.RemainingPaths(path); vias(onward) != "Message.Recipient Recipient " {
		t.Errorf("the path goes on along %q", vias(onward))
	}
	if _, ok := m.PathVia("parts", "Message"); ok {
		t.Error("found a path that is not there")
	}
}

// Annotation.Via may name one path. If it names a relation instead, the column belongs to all paths that begin with
// this relation.
func TestAColumnBelongsToThePathsThatItNames(t *testing.T) {
	both := child("both", "messages", "users")
	both.Relations[0].Path, both.Relations[0].Name, both.Relations[1].Path = true, "Message", true
	for _, via := range []string{"Message", "Message.Sender", "users", "users Message.Recipient"} {
		c := contact(strings.ReplaceAll(via, " ", ""), "")
		c.Personal.Via = strings.ReplaceAll(via, " ", ", ")
		both.Columns = append(both.Columns, c)
	}
	m := mustMap(t, users(), messagesTable(nil), both)
	for _, path := range m.Paths("both") {
		var names []string
		table, _ := m.Table("both")
		for _, c := range path.Personal(table) {
			names = append(names, c.Name)
		}
		want := map[string]string{
			"Message.Sender":    "Message Message.Sender",
			"Message.Recipient": "Message usersMessage.Recipient",
			"users":             "users usersMessage.Recipient",
		}[path.Via]
		if got := strings.Join(names, " "); got != want {
			t.Errorf("along %s are %q, want %q", path.Via, got, want)
		}
	}
}

func TestWrongPathsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		where, says string
		change      func(*datamap.Table)
	}{
		"a column without a path": {"messages.body", "possible: Sender, Recipient", func(m *datamap.Table) {
			m.Columns[4].Personal.Via = ""
		}},
		"a column of an unknown path": {"messages.body", "possible: Sender, Recipient", func(m *datamap.Table) {
			m.Columns[4].Personal.Via = "Sender,Reader"
		}},
		"a part of a name": {"messages.body", "possible: Sender, Recipient", func(m *datamap.Table) {
			m.Columns[4].Personal.Via = "Send"
		}},
		"via where there is one path": {"messages.body", "remove via", func(m *datamap.Table) {
			m.Relations[1].Path = false
		}},
		"two paths of one name": {"messages", "a different name", func(m *datamap.Table) {
			m.Relations[1].Name = "Sender"
		}},
		"no path is marked": {
			"messages", "possible: Sender (sender_id -> users), Recipient (recipient_id -> users)", func(m *datamap.Table) {
				m.Relations[0].Path, m.Relations[1].Path = false, false
			},
		},
		"an unknown erasure": {"messages.sender_id", "possible: delete", func(m *datamap.Table) {
			m.Relations[0].OnErasure = domain.StrategyAnonymize
		}},
		"an erasure without a path": {"messages.recipient_id", "not a path", func(m *datamap.Table) {
			m.Relations[1].Path, m.Relations[1].OnErasure, m.Columns[4].Personal.Via = false, domain.StrategyDelete, ""
		}},
		"a reference in a key": {"messages.sender_id", "cannot be set to NULL", func(m *datamap.Table) {
			m.Relations[0].OnErasure, m.PrimaryKey = domain.StrategyNull, []string{"id", "sender_id"}
		}},
		"an owned row of two people": {"messages", "about several people", func(m *datamap.Table) {
			m.Owned, m.Columns[4].Personal.Via = true, "Sender,Recipient"
		}},
		"an owned row whose reference to one of two people is cleared": {
			"messages", "no path deletes them", func(m *datamap.Table) {
				m.Owned, m.Relations[0].OnErasure, m.Columns[4].Personal.Via = true, domain.StrategyNull, "Sender,Recipient"
			},
		},
		"an owned row whose only reference is cleared": {"messages", "its rows stay", func(m *datamap.Table) {
			m.Owned, m.Relations[0].OnErasure, m.Relations[1].Path = true, domain.StrategyNull, false
			m.Columns[4].Personal.Via = ""
		}},
		"delete along a path that keeps the row": {
			"messages.body", "because of the path Recipient", func(m *datamap.Table) {
				m.Relations[0].OnErasure = domain.StrategyDelete
				m.Columns[4].Personal.Strategy, m.Columns[4].Personal.Via = domain.StrategyDelete, "Sender,Recipient"
			},
		},
		"delete along one path, with delete on the other path": {
			"messages.body", "set erasure:delete on the path to delete the row", func(m *datamap.Table) {
				m.Relations[1].OnErasure = domain.StrategyDelete
				m.Columns[4].Personal.Strategy = domain.StrategyDelete
			},
		},
		"a condition on a missing column": {"messages.sort", "not among the columns", func(m *datamap.Table) {
			m.Relations[0].When = &datamap.Condition{Column: "sort", Value: "mail"}
		}},
		"a condition on the reference": {"messages.sender_id", "among its columns", func(m *datamap.Table) {
			m.Relations[0].When = &datamap.Condition{Column: "sender_id", Value: "7"}
		}},
		"a condition on a time": {"messages.kind", "several text forms", func(m *datamap.Table) {
			m.Relations[0].When, m.Columns[3].Type = &datamap.Condition{Column: "kind", Value: "2026"}, datamap.TypeTime
		}},
		"a condition without a value": {"messages.kind", "empty or invalid value", func(m *datamap.Table) {
			m.Relations[0].When = &datamap.Condition{Column: "kind"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := datamap.NewDataMap(users(), messagesTable(c.change))
			wantManifestError(t, err, c.where)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, want it to contain %q", err, c.says)
			}
		})
	}
}

func TestATableWithTooManyPathsIsRefused(t *testing.T) {
	tables := []datamap.Table{users()}
	parent := "users"
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		table := child(name, parent)
		table.Columns = append(table.Columns, column("other_id", datamap.TypeBigInt))
		table.Relations = append(table.Relations, belongsTo(parent, "other_id"))
		table.Relations[0].Path, table.Relations[0].Name = true, "One"
		table.Relations[1].Path, table.Relations[1].Name = true, "Two"
		tables, parent = append(tables, table), name
	}
	mustMap(t, tables[:5]...)
	_, err := datamap.NewDataMap(tables...)
	wantManifestError(t, err, "e")
}

// If an erasure sets a reference to NULL, it must not change columns that a key or another relation uses. The relations
// of a polymorphic reference may share a column, because each row uses only one of them.
func TestAClearedReferenceKeepsColumnsThatOthersNeed(t *testing.T) {
	when := func(value string) *datamap.Condition { return &datamap.Condition{Column: "kind", Value: value} }
	for name, c := range map[string]struct {
		want   string
		change func(*datamap.Table)
	}{
		"alone":     {"sender_id", func(*datamap.Table) {}},
		"not asked": {"", func(m *datamap.Table) { m.Relations[0].OnErasure = "" }},
		"an alternative": {"sender_id", func(m *datamap.Table) {
			m.Relations[0].When, m.Relations[1].When = when("mail"), when("news")
			m.Relations[1].Columns = []string{"sender_id"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			table := messagesTable(func(m *datamap.Table) {
				m.Relations[0].OnErasure = domain.StrategyNull
				c.change(m)
			})
			m := mustMap(t, users(), table)
			if got := strings.Join(m.ClearedColumns(table, m.Paths("messages")[0]), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	subject := datamap.Table{
		Name: "users", PrimaryKey: []string{"tenant", "number"}, SubjectKey: []string{"tenant", "number"},
		Columns: []datamap.Column{column("tenant", datamap.TypeText), column("number", datamap.TypeInteger)},
	}
	table := messagesTable(func(m *datamap.Table) {
		for i := range m.Relations {
			m.Relations[i].Columns = append([]string{"kind"}, m.Relations[i].Columns...)
			m.Relations[i].ReferencedColumns = []string{"tenant", "number"}
		}
		m.Relations[0].OnErasure = domain.StrategyNull
	})
	m := mustMap(t, subject, table)
	if got := m.ClearedColumns(table, m.Paths("messages")[0]); !reflect.DeepEqual(got, []string{"sender_id"}) {
		t.Errorf("cleared columns of a composite reference: got %q", got)
	}
}

// The condition of a relation reads the column, so an erasure must not overwrite it.
func TestTheColumnOfAConditionIsAKey(t *testing.T) {
	table := messagesTable(func(m *datamap.Table) {
		m.Relations[0].When = &datamap.Condition{Column: "kind", Value: "mail"}
	})
	m := mustMap(t, users(), table)
	if !m.IsKey(table, "kind") || m.IsKey(table, "body") {
		t.Error("IsKey is wrong for the column of a condition or for another column")
	}
}

func TestNoticesNameRelationsThatNoPathCovers(t *testing.T) {
	table := messagesTable(func(m *datamap.Table) {
		m.Columns = append(m.Columns, column("reviewer_id", datamap.TypeBigInt), column("reply_to", datamap.TypeBigInt))
		m.Relations = append(m.Relations, belongsTo("users", "reviewer_id"), belongsTo("messages", "reply_to"),
			belongsTo("elsewhere", "kind"))
	})
	m := mustMap(t, users(), table, child("orders", "users"))
	notices := m.Notices()
	if len(notices) != 1 || notices[0].Table != "messages" || notices[0].Column != "reviewer_id" ||
		!strings.HasPrefix(notices[0].String(), "messages.reviewer_id: refers to users") {
		t.Errorf("got %v", notices)
	}
	more := datamap.Notice{Table: "logs", Column: "user_id", Message: "is not here"}
	if got := m.WithNotices(more).Notices(); len(got) != 2 || got[1] != more || len(m.Notices()) != 1 {
		t.Errorf("got %v", got)
	}
	m = m.WithDecisions(datamap.Decision{Object: "messages", Seen: []string{"reviewer_id -> users"}})
	if got := m.Notices(); len(got) > 0 {
		t.Errorf("a question shows the relation, but got %v", got)
	}
}

func TestANaturalKeyOfThePeopleIsANotice(t *testing.T) {
	for key, natural := range map[string]bool{
		"email": true, "username": true, "Handle": true, "id": false, "user_id": false, "uuid": false, "publicID": false,
	} {
		people := users()
		people.PrimaryKey, people.SubjectKey = []string{key}, []string{key}
		people.Columns = []datamap.Column{{Name: key, Type: datamap.TypeText}}
		notices := mustMap(t, people).Notices()
		if (len(notices) == 1) != natural || natural && !strings.Contains(notices[0].Message,
			`"Natural keys" in the cookbook`) {
			t.Errorf("%s: got %v", key, notices)
		}
		people.Columns[0].Type = datamap.TypeBigInt
		if notices := mustMap(t, people).Notices(); len(notices) > 0 {
			t.Errorf("%s, a number: got %v", key, notices)
		}
	}
}

func TestRelationsWithoutPathOptionsKeepTheirJSON(t *testing.T) {
	text, err := json.Marshal(belongsTo("users", "users_id"))
	if err != nil || string(text) != `{"columns":["users_id"],"references":"users","referenced_columns":["id"]}` {
		t.Errorf("got %s, %v", text, err)
	}
	text, err = json.Marshal(datamap.Relation{
		Name: "Target", Columns: []string{"target_id"}, References: "users", ReferencedColumns: []string{"id"}, Path: true,
		OnErasure: domain.StrategyNull, When: &datamap.Condition{Column: "target_type", Value: "account"},
	})
	want := `{"name":"Target","columns":["target_id"],"references":"users","referenced_columns":["id"],"path":true,` +
		`"erasure":"null","when":{"column":"target_type","value":"account"}}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
}
