package facts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// schemaOf returns the schema of tables such as "tasks id:bigint! user_id:bigint!=users title". The first one holds the
// people. A column with ! is NOT NULL, one with = has a foreign key, with ? a constant default, and with | a list of
// values. The column id is the primary key, or the column with #. A column without a type is a text.
func schemaOf(tables ...string) facts.Schema {
	var c datamap.Catalog
	for _, text := range tables {
		c.Tables = append(c.Tables, tableOf(text))
	}
	people := c.Tables[0]
	return facts.Read(c, people.Name, people.PrimaryKey)
}

func tableOf(text string) datamap.CatalogTable {
	words := strings.Fields(text)
	t := datamap.CatalogTable{Name: words[0], Kind: datamap.KindTable}
	if schema, _, ok := strings.Cut(t.Name, "."); ok {
		t.Schema = schema
	}
	for _, word := range words[1:] {
		word, to, isReference := strings.Cut(word, "=")
		name, flags, _ := strings.Cut(word, ":")
		declared := strings.Trim(flags, "!?|#")
		if declared == "" {
			declared = "text"
		}
		c := datamap.CatalogColumn{Name: name, Declared: declared, Nullable: !strings.ContainsAny(flags, "!#")}
		switch declared {
		case "bigint[]":
			c.Type = datamap.TypeArray
		case "varchar(9)":
			c.Type = datamap.TypeText
		case "inet":
		default:
			c.Type = datamap.ColumnType(declared)
		}
		if strings.Contains(flags, "?") {
			c.Default, c.Initial = true, "0"
		}
		if strings.Contains(flags, "|") {
			c.Values = []string{"post", "user"}
		}
		if name == "id" || strings.Contains(flags, "#") {
			c.Nullable, t.PrimaryKey = false, append(t.PrimaryKey, name)
		}
		if isReference {
			t.ForeignKeys = append(t.ForeignKeys, datamap.CatalogForeignKey{
				Columns: []string{name}, References: to, Referenced: []string{"id"},
			})
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

const users = "users id:bigint email"

func TestAColumnCouldHoldAKeyWhateverItsName(t *testing.T) {
	for _, test := range []struct{ people, table, want string }{
		{users, "tasks id:bigint notifiable_id:bigint shared_by_id:bigint x:bigint", "notifiable_id shared_by_id x"},
		{users, "tasks id:bigint position:bigint? kind:bigint| weight:integer at:time", ""},
		{users, "tasks id:bigint owner_id:bigint? author:integer owner", "owner_id author"},
		{users, "tasks id:bigint user_id:bigint=users project_id:bigint=users", ""},
		{users, "profiles user_id:bigint# bio", "user_id"},
		{users, "boxes box_id:bigint# user_id:bigint", "user_id"},
		{users, "lists id:bigint members:bigint[]", "members"},
		{"users id:uuid", "tasks id:uuid seen:uuid owner_id other:bigint", "seen"},
		{"users id:varchar(9)", "tasks id:text owner:text title:varchar(9) note", "owner title"},
		{"users tenant:bigint# id:integer", "tasks id:integer tenant:bigint user_id:integer", "tenant user_id"},
	} {
		s := schemaOf(test.people, test.table)
		table := tableOf(test.table)
		var got []string
		for _, column := range table.Columns {
			if s.CouldHoldKey(table, column) {
				got = append(got, column.Name)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %v, want %s", test.table, got, test.want)
		}
	}
	untyped := datamap.Catalog{Untyped: true, Tables: []datamap.CatalogTable{tableOf(users), tableOf("a id:bigint")}}
	column := datamap.CatalogColumn{Name: "seen", Declared: "INT", Type: datamap.TypeBigInt}
	if !facts.Read(untyped, "users", []string{"id"}).CouldHoldKey(untyped.Tables[1], column) {
		t.Error("a database without types stores keys in columns of any width")
	}
	column.Generated = true
	if facts.Read(untyped, "users", []string{"id"}).CouldHoldKey(untyped.Tables[1], column) {
		t.Error("a computed column could hold a key")
	}
}

func TestLinksLeadToPeople(t *testing.T) {
	for _, test := range []struct {
		tables []string
		want   string // of the second table
	}{
		{[]string{"tasks id:bigint owner_id:bigint author_id:bigint!=users"}, "author_id->users owner_id->users"},
		{[]string{"tasks id:bigint user_id:bigint!", users}, "user_id->users"},
		{[]string{"notes id:bigint task_id:bigint=tasks", "tasks id:bigint user_id:bigint=users"}, "task_id->tasks"},
		{[]string{"notes id:bigint task_id:bigint", "tasks id:bigint created_by:bigint"}, "task_id->tasks"},
		{[]string{"notes id:bigint tag_id:bigint", "tags id:bigint title"}, ""},
		{[]string{"notes id:bigint tag_id:bigint x:bigint", "tags id:bigint"}, "x->users?"},
		{[]string{"a id:bigint b_id:bigint=b", "b id:bigint a_id:bigint=a"}, ""},
		{[]string{"a id:bigint b_id:bigint=b", "b id:bigint a_id:bigint=a user_id:bigint=users"}, "b_id->b"},
		{[]string{"notes id:bigint parent_note_id:bigint note_id:bigint=notes"}, ""},
		{[]string{"notes id:bigint old_task_id:bigint", "tasks id:bigint user_id:bigint"}, "old_task_id->tasks"},
		{[]string{"calls id:bigint notifiable_type notifiable_id:bigint"}, "notifiable_id->users(notifiable_type=User?)"},
		{[]string{"calls id:bigint owner_type:text| owner_id:bigint"}, "owner_id->users(owner_type=user)"},
		{[]string{"calls id:bigint owner_type:integer owner_id:bigint"}, ""},
		{[]string{"lists id:bigint members:bigint[]"}, ""},
	} {
		s := schemaOf(append([]string{users}, test.tables...)...)
		var got []string
		for _, l := range s.Links(tableOf(test.tables[0])) {
			text := strings.Join(l.Columns, ",") + "->" + l.References
			if l.When != nil {
				text += "(" + l.When.Column + "=" + l.When.Value
				if l.Guessed {
					text += "?"
				}
				text += ")"
			} else if !l.Likely {
				text += "?"
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%v: got %v, want %s", test.tables, got, test.want)
		}
	}
	s := schemaOf(
		"users tenant:bigint# id:bigint#", "tasks id:bigint tenant:bigint author_id:bigint", "notes id:bigint user_id:bigint",
	)
	links := s.Links(tableOf("tasks id:bigint tenant:bigint author_id:bigint"))
	if len(links) != 1 || fmt.Sprint(links[0].Columns, links[0].Referenced) != "[tenant author_id] [tenant id]" ||
		links[0].Column() != "author_id" || len(s.Links(tableOf("notes"))) != 0 {
		t.Errorf("a composite key: %+v", links)
	}
	if self := schemaOf(users, "notes id:bigint note_id:bigint=notes").Self(tableOf("notes")); len(self) != 1 {
		t.Errorf("got %+v", self)
	}
	if len(schemaOf("users id:bigint user_id:bigint=users").Links(tableOf("users"))) != 0 {
		t.Error("a person's row leads to people")
	}
}

func TestPeopleShareATableWhosePartsLeadToOthers(t *testing.T) {
	for _, test := range []struct {
		tables []string
		want   string
	}{
		{
			[]string{"teams id:bigint owner_id:bigint=users", "members id:bigint team_id:bigint=teams user_id:bigint=users"},
			"members.user_id",
		},
		{[]string{"teams id:bigint owner_id:bigint", "members id:bigint team_id:bigint user_id:bigint"}, "members.user_id"},
		{
			[]string{
				"teams id:bigint owner_id:bigint=users", "boards id:bigint team_id:bigint=teams",
				"cards id:bigint board_id:bigint=boards author_id:bigint=users",
			}, "cards.author_id",
		},
		{[]string{"teams id:bigint owner_id:bigint=users", "boards id:bigint team_id:bigint=teams"}, ""},
		{[]string{"teams id:bigint owner_id:bigint=users", "boards id:bigint team_id:bigint=teams x:bigint"}, "boards.x?"},
		{[]string{"notes id:bigint user_id:bigint=users reply_id:bigint=notes"}, "notes.reply_id"},
		{[]string{"notes id:bigint user_id:bigint=users editor_id:bigint=users"}, ""},
	} {
		s := schemaOf(append([]string{users}, test.tables...)...)
		var got []string
		for _, one := range s.Shared(tableOf(test.tables[0])) {
			text := one.Table + "." + one.Column
			if !one.Likely {
				text += "?"
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%v: got %v, want %s", test.tables, got, test.want)
		}
	}
	s := schemaOf("users id:bigint team_id:bigint=teams", "teams id:bigint owner_id:bigint=users")
	if shared := s.Shared(tableOf("teams")); len(shared) != 1 || shared[0].Table != "users" {
		t.Errorf("people refer to teams: %+v", shared)
	}
}

func TestATableAboutNobodyNeedsNoDecision(t *testing.T) {
	for table, want := range map[string]bool{
		"rates id:bigint value:number at:time on:boolean": true, "rates id:bigint state:text|": true,
		"rates id:bigint name": false, "rates id:bigint data:json": false, "rates id:bigint x:bigint": false,
		"rates id:bigint ip:inet": false, "rates id:bigint user_id:bigint=users": false, users: false,
		"rates id:bigint task_id:bigint=tasks": false, "rates id:bigint tag_id:bigint=tags": true,
	} {
		s := schemaOf(users, "tasks id:bigint user_id:bigint=users", "tags id:bigint", table)
		if s.Harmless(tableOf(table)) != want {
			t.Errorf("%s is harmless: %t", table, !want)
		}
	}
}

func TestAnotherSchemaIsOneDecision(t *testing.T) {
	s := schemaOf(users, "legacy.a id:bigint user_id:bigint", "shop.b id:bigint user_id:bigint=users", "shop.c id:bigint")
	for table, want := range map[string]string{
		"users": "users", "legacy.a": "legacy.*", "shop.b": "shop.b", "shop.c": "shop.c",
	} {
		if got := s.Object(tableOf(table)); got != want {
			t.Errorf("%s: got %s", table, got)
		}
	}
	if s.Subject().Name != "users" {
		t.Error("the people are in users")
	}
}

func TestSomeTablesAreDecidedWithOthers(t *testing.T) {
	s := schemaOf(users, "logs id:bigint")
	part, view := tableOf("logs_2026 id:bigint"), tableOf("people id:bigint")
	part.Inherits, view.Kind = []string{"logs"}, datamap.KindView
	if !s.Exempt(part) || !s.Exempt(view) || s.Exempt(tableOf("logs")) {
		t.Error("a child and a view need no decision, a table does")
	}
	if part.Inherits = []string{"elsewhere"}; s.Exempt(part) {
		t.Error("the parent is not in the catalog")
	}
}

func TestWhatIsNewInATable(t *testing.T) {
	table := tableOf("tasks id:bigint user_id:bigint=users title")
	seen := facts.Seen(table)
	if want := []string{"id", "user_id", "title", "user_id -> users"}; !slices.Equal(seen, want) {
		t.Errorf("got %v", seen)
	}
	if len(facts.Changed(table, seen)) != 0 || !slices.Equal(facts.Changed(table, seen[:2]), seen[2:]) {
		t.Error("only what is not in the list is new")
	}
	if table.FoldsCase = true; len(facts.Changed(table, []string{"ID", "USER_ID", "Title", "user_id -> users"})) != 0 {
		t.Error("the database ignores case")
	}
}
