package datamap_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// repliesTable returns messages that refer to the messages that they answer, with an option on this relation.
func repliesTable(strategy domain.Strategy, change func(*datamap.Table)) datamap.Table {
	return messagesTable(func(m *datamap.Table) {
		m.Columns = append(m.Columns, column("answers_id", datamap.TypeBigInt))
		relation := belongsTo("messages", "answers_id")
		relation.OnErasure = strategy
		m.Relations = append(m.Relations, relation)
		if change != nil {
			change(m)
		}
	})
}

// filesTable returns files that refer to a message. A file has the paths of the message, and a path to its owner.
func filesTable(strategy domain.Strategy) datamap.Table {
	files := child("files", "messages", "users")
	for i, name := range []string{"Message", "Owner"} {
		files.Relations[i].Path, files.Relations[i].Name = true, name
	}
	files.Relations[0].OnErasure = strategy
	return files
}

// sent deletes a message with its sender.
func sent(m *datamap.Table) { m.Relations[0].OnErasure = domain.StrategyDelete }

// If the erasure of a person keeps a message, an option on the relation to the message does not reach the files of
// other people.
func TestAnActionReachesOnlyRowsWhoseParentGoes(t *testing.T) {
	for _, action := range []domain.Strategy{domain.StrategyDelete, domain.StrategyNull} {
		m := mustMap(t, users(), messagesTable(sent), filesTable(action))
		table, _ := m.Table("files")
		var got []string
		for _, path := range m.Paths("files") {
			got = append(got, path.Via+"="+string(path.OnErasure()))
			if deletes := m.RowsDeleted(table, path); deletes != (path.OnErasure() == domain.StrategyDelete) {
				t.Errorf("the rows on the path %s are deleted: %t", path.Via, deletes)
			}
			if clears := m.ClearedColumns(table, path); (len(clears) > 0) != (path.OnErasure() == domain.StrategyNull) {
				t.Errorf("the path %s clears %q", path.Via, clears)
			}
		}
		want := "Message.Sender=" + string(action) + " Message.Recipient= Owner="
		if strings.Join(got, " ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if action := (datamap.Path{}).OnErasure(); action != "" {
		t.Errorf("the subject's own row has the action %s", action)
	}
}

func TestWrongOptionsOfARelationToTheOwnTableAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		table datamap.Table
		says  string
	}{
		"delete": {
			repliesTable(domain.StrategyDelete, nil),
			"messages.answers_id: refers by the relation messages to its own table, which is not a path to a subject",
		},
		"a mark": {
			repliesTable("", func(m *datamap.Table) { m.Relations[2].Path = true }),
			"messages.answers_id: is marked as a path, but leads to its own table, which is not a path to a subject",
		},
		"a key": {
			repliesTable(domain.StrategyNull, func(m *datamap.Table) {
				m.PrimaryKey, m.Relations[2].ReferencedColumns = []string{"answers_id"}, []string{"answers_id"}
			}),
			"messages.answers_id: cannot be set to NULL",
		},
	} {
		_, err := datamap.NewDataMap(users(), c.table)
		if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, which does not say %q", name, err, c.says)
		}
	}
}

func TestSelfReferencesAreClearedWhereRowsGo(t *testing.T) {
	for name, c := range map[string]struct {
		table datamap.Table
		want  string
	}{
		"one of two paths": {repliesTable(domain.StrategyNull, sent), "answers_id Sender"},
		"rows that stay":   {repliesTable(domain.StrategyNull, nil), ""},
		"no option":        {repliesTable("", sent), ""},
	} {
		m := mustMap(t, users(), c.table)
		var got []string
		for _, reference := range m.SelfReferences(c.table) {
			got = append(got, strings.Join(reference.ClearedColumns, ",")+" "+vias(reference.Paths))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestWrongNamesOfThePathsThatDeleteAreRefused(t *testing.T) {
	owned := func(via string, change func(*datamap.Table)) datamap.Table {
		return messagesTable(func(m *datamap.Table) {
			m.Owned, m.Via, m.Columns[4].Personal = true, via, nil
			if change != nil {
				change(m)
			}
		})
	}
	for name, c := range map[string]struct {
		table datamap.Table
		says  string // empty if it is accepted
	}{
		"a path":    {owned("Sender", nil), ""},
		"two paths": {owned("Sender, Recipient", nil), ""},
		"no path":   {owned("", nil), "no path deletes them"},
		"unknown":   {owned("Reader", nil), `found "Reader"; possible: Sender, Recipient`},
		"not owned": {owned("Sender", func(m *datamap.Table) { m.Owned = false }), "has via, but is not owned"},
		"one path":  {owned("Sender", func(m *datamap.Table) { m.Relations[1].Path = false }), "has only one path"},
		"a kept row": {
			owned("Sender", func(m *datamap.Table) { m.Columns[3] = anonymizedOf("kind") }), "because of kind (anonymized)",
		},
		"a null path": {
			owned("Sender", func(m *datamap.Table) { m.Relations[0].OnErasure = domain.StrategyNull }), "set to NULL",
		},
	} {
		_, err := datamap.NewDataMap(users(), c.table)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, which does not say %q", name, err, c.says)
		}
	}
}

func anonymizedOf(name string) datamap.Column {
	c := contact(name, domain.StrategyAnonymize)
	c.Personal.Via = "Sender"
	return c
}

func TestNoticesNameOptionsWithoutEffectAndReferencesToDeletedRows(t *testing.T) {
	within := func(m *datamap.Table) { // an answer has the sender of the message that it answers
		sent(m)
		m.Relations[2].Columns = []string{"answers_id", "sender_id"}
		m.Relations[2].ReferencedColumns = []string{"id", "sender_id"}
	}
	for name, c := range map[string]struct {
		tables []datamap.Table
		want   string // the beginning of the only notice, or empty
	}{
		"an option that acts on one path": {
			[]datamap.Table{messagesTable(sent), filesTable(domain.StrategyDelete)}, "",
		},
		"an option that acts on no path": {
			[]datamap.Table{messagesTable(nil), filesTable(domain.StrategyDelete)},
			"files.messages_id: has erasure:delete on the relation to messages, which has no effect",
		},
		"a reference to deleted rows": {
			[]datamap.Table{repliesTable("", sent)}, "messages.answers_id: refers to its own table, which is not a path",
		},
		"a reference to rows that stay": {[]datamap.Table{repliesTable("", nil)}, ""},
		"a reference that is cleared":   {[]datamap.Table{repliesTable(domain.StrategyNull, sent)}, ""},
		"a reference within a person":   {[]datamap.Table{repliesTable("", within)}, ""},
		"a reference that the database clears": {
			[]datamap.Table{repliesTable("", func(m *datamap.Table) { sent(m); m.Relations[2].SetsNull = true })}, "",
		},
		"an option without deleted rows": {
			[]datamap.Table{repliesTable(domain.StrategyNull, nil)},
			"messages.answers_id: has erasure:null on the relation to its own table, which has no effect",
		},
	} {
		notices := mustMap(t, append([]datamap.Table{users()}, c.tables...)...).Notices()
		switch {
		case c.want == "" && len(notices) > 0:
			t.Errorf("%s: got %v", name, notices)
		case c.want != "" && (len(notices) != 1 || !strings.HasPrefix(notices[0].String(), c.want)):
			t.Errorf("%s: got %v, want %q", name, notices, c.want)
		}
	}
}

// A value that must be deleted with its row is refused if an option on the relation does not reach the row.
func TestAValueCannotBeDeletedThroughARowThatStays(t *testing.T) {
	files := filesTable(domain.StrategyDelete)
	name := contact("name", domain.StrategyDelete)
	name.Personal.Via = "Message.Recipient"
	files.Columns = append(files.Columns, name)
	_, err := datamap.NewDataMap(users(), messagesTable(sent), files)
	want := "because of the path Message.Recipient (whose erasure:delete has no effect, because the row of messages stays)"
	if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, which does not say %q", err, want)
	}
}
